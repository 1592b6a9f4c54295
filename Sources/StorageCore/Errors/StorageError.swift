public import CryptoCore

public import protocol Foundation.LocalizedError

/// Why a store could not do what was asked.
///
/// Absence is never an error: it is `nil`. An error names the key or the file concerned and says
/// what to do next; it never carries a value, a key or a passphrase.
public struct StorageError: Error, Hashable, Sendable {
  /// A kind of failure that a caller can act on.
  ///
  /// New kinds may be added later.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    /// The name of the code, as written in source.
    public let description: String

    private init(_ name: String) { description = name }

    /// The place is there and locked: unlock it and try again.
    public static let locked = Code("locked")
    /// The place that was asked for is not there on this machine or in this environment.
    public static let unavailable = Code("unavailable")
    /// The key source gave a key or passphrase, and it is not this store's.
    public static let wrongKey = Code("wrongKey")
    /// No key source that the store accepts gave a key.
    public static let keyUnavailable = Code("keyUnavailable")
    /// The data was altered, cut, moved or swapped: it does not authenticate.
    public static let damaged = Code("damaged")
    /// The value is there and of another type than the one asked for.
    public static let typeMismatch = Code("typeMismatch")
    /// This machine, backend or release does not offer what was asked for.
    public static let unsupported = Code("unsupported")
    /// Another process or thread held the store until the deadline.
    public static let busy = Code("busy")
    /// There is no space left; nothing was changed.
    public static let full = Code("full")
    /// The place can't be written to; nothing was changed.
    public static let readOnly = Code("readOnly")
    /// The deadline passed before an answer came.
    public static let timedOut = Code("timedOut")
    /// The write may or may not survive: the system failed while making it durable.
    public static let outcomeUnknown = Code("outcomeUnknown")
    /// The system failed in a way that no other code names.
    public static let io = Code("io")
    /// The place belongs to somebody else, or others could read or change it.
    public static let denied = Code("denied")
    /// An argument is outside the documented limits; nothing was changed.
    public static let invalid = Code("invalid")
    /// There is no session bus: no address of one is known, or nobody answers there.
    public static let noBus = Code("noBus")
    /// The session bus is there, and no Secret Service is on it, nor can one be started.
    public static let noService = Code("noService")
    /// The keyring's service has no such collection, or no default one.
    public static let noCollection = Code("noCollection")
    /// The user dismissed the prompt; nothing was changed.
    public static let dismissed = Code("dismissed")
    /// Several items answer to what names one; none was picked, and nothing was changed.
    public static let duplicate = Code("duplicate")
    /// The caller's task was cancelled before an answer came.
    public static let cancelled = Code("cancelled")
    /// The id of a group of programs is missing, or can't be one.
    public static let invalidAppGroupIdentifier = Code("invalidAppGroupIdentifier")
    /// The configuration would hide data that is stored under another one; nothing was changed.
    public static let configurationConflict = Code("configurationConflict")
    /// The key is in none of the catalogs that were registered.
    public static let unregisteredKey = Code("unregisteredKey")
    /// Two values differ, and nobody said which one counts; both were left where they are.
    public static let conflict = Code("conflict")
  }

  /// What an error says.
  private struct Content: Hashable, Sendable {
    let code: Code
    let key: String?
    let path: String?
    let number: Int?
    let message: String
  }

  /// Keeps an error one reference long.
  ///
  /// Every call that may throw has room for it in its frame, on the way of each read and write too.
  private final class Box: Sendable {
    let content: Content
    init(_ content: Content) { self.content = content }
  }
  private let box: Box

  /// What to act on.
  public var code: Code { box.content.code }
  /// The key name concerned, or nil.
  public var key: String? { box.content.key }
  /// The file or folder concerned, or nil.
  public var path: String? { box.content.path }
  /// The number of the C library or system call that failed, or nil.
  ///
  /// For a file, `errno`.
  public var number: Int? { box.content.number }
  /// What happened and what to do next.
  public var message: String { box.content.message }

  /// An error of a store or a delegate.
  ///
  /// - Parameters:
  ///   - code: what to act on.
  ///   - message: what happened and what to do next. Never a value, a key or a passphrase.
  ///   - key: the key name concerned.
  ///   - path: the file or folder concerned.
  ///   - number: the C library's number.
  public init(
    _ code: Code, _ message: String, key: String? = nil, path: String? = nil, number: Int? = nil
  ) {
    box = Box(Content(code: code, key: key, path: path, number: number, message: message))
  }

  /// Whether both say the same.
  public static func == (left: StorageError, right: StorageError) -> Bool {
    left.box.content == right.box.content
  }

  /// Feeds all that it says.
  public func hash(into hasher: inout Hasher) { hasher.combine(box.content) }

  /// The same error, about `key` if it names none yet.
  package func about(_ key: String?) -> StorageError {
    StorageError(code, message, key: self.key ?? key, path: path, number: number)
  }

  /// The same error, of the file at `path` if it names none yet.
  package func at(_ path: String?) -> StorageError {
    StorageError(code, message, key: key, path: self.path ?? path, number: number)
  }

  /// The same error, of the file at `path` where it names the one that was made in its stead.
  package func of(_ path: String, madeAs sibling: String) -> StorageError {
    guard let named = self.path, named.hasPrefix(sibling) else { return self }
    return StorageError(code, message, key: key, path: path, number: number)
  }
}

extension StorageError: CustomStringConvertible {
  /// The code, what it is about, and the message, in one line.
  public var description: String {
    var subject = ""
    if let key { subject += " key \"\(Self.shown(key))\"" }
    if let path { subject += " \(path)" }
    let suffix = number.map { " (\($0))" } ?? ""
    return Self.line("\(code)\(subject): \(message)\(suffix)")
  }

  /// A key name that is short enough for a line of a log.
  private static func shown(_ key: String) -> String {
    guard
      let end = key.unicodeScalars.index(
        key.startIndex, offsetBy: 80, limitedBy: key.endIndex), end < key.endIndex
    else { return key }
    return String(key.unicodeScalars[..<end]) + "..."
  }

  /// The text without what would end a line or steer a terminal: names come from anywhere.
  private static func line(_ text: String) -> String {
    var line = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      switch scalar.properties.generalCategory {
      case .control, .lineSeparator, .paragraphSeparator, .format: line.append("?")
      default: line.append(scalar)
      }
    }
    return String(line)
  }
}

extension StorageError: CustomReflectable {
  /// All that it says.
  public var customMirror: Mirror {
    Mirror(
      self,
      children: [
        "code": code, "key": key as Any, "path": path as Any, "number": number as Any,
        "message": message,
      ])
  }
}

extension StorageError: LocalizedError {
  /// The description, for `localizedDescription`.
  public var errorDescription: String? { description }
}

extension StorageError {
  /// The storage error that a failure of CryptoCore means for the record of `key`.
  ///
  /// - Parameters:
  ///   - error: what failed.
  ///   - key: the key name concerned.
  public init(_ error: CryptoError, key: String? = nil) {
    let number = error.openSSLErrors.first.map { Int(bitPattern: $0) }
    switch error.code {
    case .authenticationFailed:
      self.init(
        .damaged,
        "the record does not authenticate: it was altered or moved, or sealed with another "
          + "authentication tag. The record is unchanged; save or remove the key to replace it",
        key: key, number: number)
    case .malformed:
      self.init(.damaged, error.message + "; it is left as it is", key: key, number: number)
    case .unsupported: self.init(.unsupported, error.message, key: key, number: number)
    case .invalidParameter: self.init(.invalid, error.message, key: key, number: number)
    default: self.init(.io, error.message, key: key, number: number)
    }
  }
}

/// Runs `body` and turns its `CryptoError` into a `StorageError`.
@inline(__always)
package func cryptography<Result>(
  key: String? = nil, _ body: () throws(CryptoError) -> Result
) throws(StorageError) -> Result {
  do throws(CryptoError) { return try body() } catch { throw StorageError(error, key: key) }
}
