package import CryptoCore

/// Why a store could not do what was asked.
///
/// A missing value is not an error: the call returns `nil`. An error names the key name or the file
/// concerned and says what to do next. It never carries a value, a key or a passphrase.
public struct StorageError: Error, Hashable, Sendable {
  /// A kind of failure that a caller can act on.
  ///
  /// New kinds may be added later.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    /// The name of the code, as written in source.
    public let description: String

    private init(_ name: String) { description = name }

    /// The place exists but is locked: unlock it and try again.
    public static let locked = Code("locked")
    /// The requested place does not exist on this machine or in this environment.
    public static let unavailable = Code("unavailable")
    /// The key source gave a key or passphrase that does not open this store.
    public static let wrongKey = Code("wrongKey")
    /// No key source that the store accepts gave a key.
    public static let keyUnavailable = Code("keyUnavailable")
    /// The data was altered, cut, moved or swapped: it does not authenticate.
    public static let damaged = Code("damaged")
    /// The stored value has another type than the requested one.
    public static let typeMismatch = Code("typeMismatch")
    /// This machine, backend or release does not support the request.
    public static let unsupported = Code("unsupported")
    /// Another process or thread held the store until the deadline.
    public static let busy = Code("busy")
    /// There is no space left; nothing was changed.
    public static let full = Code("full")
    /// The place can't be written to; nothing was changed.
    public static let readOnly = Code("readOnly")
    /// The deadline passed before an answer came.
    public static let timedOut = Code("timedOut")
    /// It is unknown whether the write survives: the system failed while making the write durable.
    public static let outcomeUnknown = Code("outcomeUnknown")
    /// The system reported a failure that no other code covers.
    public static let io = Code("io")
    /// Access was refused, or the place is unsafe: another user owns it, or other users can read or
    /// change it.
    public static let denied = Code("denied")
    /// An argument is outside the documented limits; nothing was changed.
    public static let invalid = Code("invalid")
    /// There is no session bus: its address is not known, or nothing answers at the address.
    public static let noBus = Code("noBus")
    /// The session bus works, but no Secret Service runs on it and none can be started.
    public static let noService = Code("noService")
    /// The keyring service does not have the requested collection, or has no default collection.
    public static let noCollection = Code("noCollection")
    /// The user dismissed the prompt; nothing was changed.
    public static let dismissed = Code("dismissed")
    /// Several items match where only one may match; none was chosen, and nothing was changed.
    public static let duplicate = Code("duplicate")
    /// The caller's task was cancelled before an answer came.
    public static let cancelled = Code("cancelled")
    /// The app group identifier is missing or not valid.
    public static let invalidAppGroupIdentifier = Code("invalidAppGroupIdentifier")
    /// The configuration would hide data stored under another configuration; nothing was changed.
    public static let configurationConflict = Code("configurationConflict")
    /// No registered catalog contains the key.
    public static let unregisteredKey = Code("unregisteredKey")
    /// Two values differ, and the caller did not say which one to keep; both were left in place.
    public static let conflict = Code("conflict")
  }

  /// The fields of an error.
  private struct Content: Hashable, Sendable {
    let code: Code
    let key: String?
    let path: String?
    let number: Int?
    let message: String
  }

  /// Makes an error the size of one reference.
  ///
  /// Each call that may throw reserves space for the error in its stack frame, and every read and
  /// write makes such calls.
  private final class Box: Sendable {
    let content: Content
    init(_ content: Content) { self.content = content }
  }
  private let box: Box

  /// The kind of failure, for the caller to act on.
  public var code: Code { box.content.code }
  /// The key name concerned, or nil.
  public var key: String? { box.content.key }
  /// The file or folder concerned, or nil.
  public var path: String? { box.content.path }
  /// The error number of the C library or system call that failed, or nil.
  ///
  /// For a file, the number is `errno`.
  public var number: Int? { box.content.number }
  /// What happened and what to do next.
  public var message: String { box.content.message }

  /// Makes an error of a store or a delegate.
  ///
  /// - Parameters:
  ///   - code: the kind of failure.
  ///   - message: what happened and what to do next. Never a value, a key or a passphrase.
  ///   - key: the key name concerned.
  ///   - path: the file or folder concerned.
  ///   - number: the error number of the C library.
  public init(
    _ code: Code, _ message: String, key: String? = nil, path: String? = nil, number: Int? = nil
  ) {
    box = Box(Content(code: code, key: key, path: path, number: number, message: message))
  }

  /// Whether all fields of both errors are equal.
  public static func == (left: StorageError, right: StorageError) -> Bool {
    left.box.content == right.box.content
  }

  /// Feeds all fields to `hasher`.
  public func hash(into hasher: inout Hasher) { hasher.combine(box.content) }

  /// The same error; names `key` if the error names no key yet.
  package func about(_ key: String?) -> StorageError {
    StorageError(code, message, key: self.key ?? key, path: path, number: number)
  }

  /// The same error; names the file at `path` if the error names no file yet.
  package func at(_ path: String?) -> StorageError {
    StorageError(code, message, key: key, path: self.path ?? path, number: number)
  }

  /// The same error; names the file at `path` where it named a temporary file of `path`, whose path
  /// starts with `sibling`.
  package func of(_ path: String, madeAs sibling: String) -> StorageError {
    guard let named = self.path, named.hasPrefix(sibling) else { return self }
    return StorageError(code, message, key: key, path: path, number: number)
  }
}

extension StorageError: CustomStringConvertible {
  /// The code, what it is about, and the message, in one line.
  public var description: String {
    let suffix = number.map { " (\($0))" } ?? ""
    return Self.line("\(codeAndSubject): \(message)\(suffix)")
  }

  /// The code and what the error is about, in one line.
  package var codeAndSubject: String {
    var subject = ""
    if let key { subject += " key \"\(Self.shown(key))\"" }
    if let path { subject += " \(path)" }
    return Self.line("\(code)\(subject)")
  }

  /// The key and the path as one line of a log may show them.
  package var shownSubject: (key: String?, path: String?) {
    (key.map { Self.line(Self.shown($0)) }, path.map(Self.line))
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

extension StorageError {
  /// Turns an error of CryptoCore into a storage error about the record of `key`.
  ///
  /// - Parameters:
  ///   - error: the error of CryptoCore.
  ///   - key: the key name concerned.
  package init(_ error: CryptoError, key: String? = nil) {
    let number = error.openSSLErrors.first.map { Int(bitPattern: $0) }
    switch error.code {
    case .authenticationFailed:
      self.init(
        .damaged,
        "the record does not authenticate: it was altered or moved, or sealed with another value of "
          + "the argument authenticationTag. It was left unchanged. Save a new value, or remove the value",
        key: key, number: number)
    case .malformed:
      self.init(.damaged, error.message + "; it was left unchanged", key: key, number: number)
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

extension StorageError {
  /// Whether the error is about one record that can't be opened, so that the others can be read.
  ///
  /// Where the system said `unsupported`, as a file system without locks does, the place failed.
  package var isOfRecord: Bool { code == .damaged || code == .unsupported && number == nil }
}
