internal import COpenSSL

/// Why a cryptographic operation failed.
///
/// It never carries a key, a plaintext or a passphrase.
public struct CryptoError: Error, Hashable, Sendable {
  /// A kind of failure that a caller can act on.
  ///
  /// New kinds may be added later.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    /// The name of the code, as written in source.
    public let description: String

    private init(_ name: String) { description = name }

    /// The ciphertext, its tag or its associated data differs from the sealed one.
    public static let authenticationFailed = Code("authenticationFailed")
    /// The bytes are not a record of this format.
    public static let malformed = Code("malformed")
    /// An argument is outside the limits that the function documents.
    public static let invalidParameter = Code("invalidParameter")
    /// The OpenSSL of this machine does not offer the algorithm.
    public static let unsupported = Code("unsupported")
    /// There is not enough memory for a key.
    public static let outOfMemory = Code("outOfMemory")
    /// OpenSSL reported a failure; see ``CryptoError/openSSLErrors``.
    public static let library = Code("library")
  }

  /// The fields of an error.
  private struct Content: Hashable, Sendable {
    let code: Code
    let message: String
    let openSSLErrors: [UInt]
  }

  /// Makes an error the size of one reference: every throwing call reserves space for it in its
  /// frame.
  private final class Box: Sendable {
    let content: Content
    init(_ content: Content) { self.content = content }
  }
  private let box: Box

  /// The kind of failure, for the caller to act on.
  public var code: Code { box.content.code }
  /// What happened, without any secret.
  public var message: String { box.content.message }
  /// OpenSSL's packed error numbers, oldest first: the whole error queue of the thread.
  public var openSSLErrors: [UInt] { box.content.openSSLErrors }

  /// Makes an error that does not come from OpenSSL.
  package init(_ code: Code, _ message: String) {
    box = Box(Content(code: code, message: message, openSSLErrors: []))
  }

  /// Makes an error of the OpenSSL call that just failed.
  ///
  /// Empties the thread's error queue.
  package init(library call: String, code: Code = .library) {
    var numbers: [UInt] = []
    var reasons: [String] = []
    // ERR_get_error(3): returns 0 when the queue is empty.
    while case let number = ERR_get_error(), number != 0 {
      numbers.append(number)
      if let reason = unsafe ERR_reason_error_string(number) {
        reasons.append(unsafe SystemText.shown(reason))
      }
    }
    let message = reasons.isEmpty ? call : "\(call): \(reasons.joined(separator: "; "))"
    box = Box(Content(code: code, message: message, openSSLErrors: numbers))
  }

  /// Whether all fields of both errors are equal.
  public static func == (left: CryptoError, right: CryptoError) -> Bool {
    left.box.content == right.box.content
  }

  /// Feeds all fields to `hasher`.
  public func hash(into hasher: inout Hasher) { hasher.combine(box.content) }
}

extension CryptoError: CustomStringConvertible {
  /// The code and the message.
  public var description: String { "\(code): \(message)" }
}

extension CryptoError: CustomReflectable {
  /// All that it says.
  public var customMirror: Mirror {
    Mirror(
      self, children: ["code": code, "message": message, "openSSLErrors": openSSLErrors])
  }
}

/// Throws unless an OpenSSL call returned 1, which means success for all EVP functions.
func requireSuccess(_ result: Int32, _ call: StaticString) throws(CryptoError) {
  guard result == 1 else { throw CryptoError(library: "\(call)") }
}
