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

    /// The ciphertext, its tag or its associated data is not what was sealed.
    public static let authenticationFailed = Code("authenticationFailed")
    /// The bytes are not a record of this format.
    public static let malformed = Code("malformed")
    /// An argument is outside the limits that the function documents.
    public static let invalidParameter = Code("invalidParameter")
    /// The OpenSSL of this machine does not offer the algorithm.
    public static let unsupported = Code("unsupported")
    /// Memory for a key could not be had.
    public static let outOfMemory = Code("outOfMemory")
    /// OpenSSL reported a failure; see ``CryptoError/openSSLErrors``.
    public static let library = Code("library")
  }

  /// What to act on.
  public let code: Code
  /// What happened, without any secret.
  public let message: String
  /// OpenSSL's packed error numbers, oldest first: all that the thread's queue held.
  public let openSSLErrors: [UInt]

  /// An error that does not come from OpenSSL.
  package init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
    self.openSSLErrors = []
  }

  /// An error of the OpenSSL call that just failed.
  ///
  /// Empties the thread's error queue.
  package init(library call: String, code: Code = .library) {
    var numbers: [UInt] = []
    var reasons: [String] = []
    // ERR_get_error(3): returns 0 when the queue is empty.
    while case let number = ERR_get_error(), number != 0 {
      numbers.append(number)
      if let reason = unsafe ERR_reason_error_string(number) {
        reasons.append(unsafe String(cString: reason))
      }
    }
    self.code = code
    self.message = reasons.isEmpty ? call : "\(call): \(reasons.joined(separator: "; "))"
    self.openSSLErrors = numbers
  }
}

extension CryptoError: CustomStringConvertible {
  /// The code and the message.
  public var description: String { "\(code): \(message)" }
}

/// Throws unless an OpenSSL call returned 1, the value by which all of EVP says success.
func requireSuccess(_ result: Int32, _ call: StaticString) throws(CryptoError) {
  guard result == 1 else { throw CryptoError(library: "\(call)") }
}
