internal import CGRPC
internal import CryptoCore
internal import StorageCore

/// A connection to one member of etcd; connects with its first call.
///
/// Any thread may use it, many at once.
@safe
final class EtcdChannel: @unchecked Sendable {
  // gRPC's channels may be used by any thread.
  private let channel: OpaquePointer
  private let process = OwnProcess()

  /// The largest answer that is taken, in bytes.
  static let largestAnswer: Int32 = 32 << 20

  /// A connection to an address.
  ///
  /// - Throws: `invalid` for certificates that can't be used, `unsupported` without gRPC's library.
  init(_ endpoint: EtcdEndpoint, _ certificates: EtcdCertificates.Texts?) throws(StorageError) {
    try Self.load()
    let roots = endpoint.isEncrypted ? certificates?.authority : nil
    let made = unsafe sps_grpc_channel_new(
      endpoint.target, roots, certificates?.certificate, certificates?.key, Self.largestAnswer)
    guard let made = unsafe made else {
      throw StorageError(
        .invalid, "the certificates can't be used; they must be PEM files", path: endpoint.text)
    }
    unsafe channel = made
  }

  /// Loads gRPC's C library, with which no program is linked.
  private static func load() throws(StorageError) {
    var reason = [CChar](repeating: 0, count: 512)
    guard unsafe sps_grpc_load(&reason, reason.count) == 0 else { return }
    throw StorageError(
      .unsupported,
      "stores in etcd need gRPC's C library 1.51, libgrpc.so.29: install the package libgrpc29, "
        + "which newer Debians and Ubuntus call libgrpc29t64 (\(unsafe SystemText.shown(reason)))")
  }

  deinit {
    // A child of fork(2) lacks the threads that would end the connection.
    if process.isCurrent { unsafe sps_grpc_channel_free(channel) }
  }

  /// Makes one call and waits for the answer on this thread.
  ///
  /// - Parameters:
  ///   - method: what is called.
  ///   - request: the message.
  ///   - token: what proves the user.
  ///   - nanoseconds: how long the call may take.
  ///   - certificate: gets the member's certificate as PEM, where there is one.
  /// - Returns: the answer.
  /// - Throws: `EtcdFailure`.
  func call(
    _ method: String, _ request: [UInt8], token: SecureBytes?, nanoseconds: Int64,
    certificate: ((String) -> Void)? = nil
  ) throws(EtcdFailure) -> [UInt8] {
    var answer = unsafe sps_grpc_answer()
    defer { unsafe sps_grpc_answer_free(&answer) }
    unsafe Self.withText(token) { token in
      unsafe request.withUnsafeBytes { request in
        unsafe sps_grpc_call(
          channel, method, token, request.baseAddress, request.count, nanoseconds,
          certificate == nil ? 0 : 1, &answer)
      }
    }
    if let text = unsafe answer.certificate { certificate?(unsafe SystemText.shown(text)) }
    return unsafe try Self.bytes(of: answer)
  }

  /// Begins a call that many messages answer.
  func stream(_ method: String, _ request: [UInt8], token: SecureBytes?) -> EtcdStream? {
    let stream = unsafe Self.withText(token) { token in
      unsafe request.withUnsafeBytes { request in
        unsafe sps_grpc_stream_new(channel, method, token, request.baseAddress!, request.count)
      }
    }
    return unsafe stream.map { unsafe EtcdStream($0, self) }
  }

  /// The bytes of an answer.
  fileprivate static func bytes(of answer: sps_grpc_answer) throws(EtcdFailure) -> [UInt8] {
    guard unsafe answer.status == 0 else {
      let text = unsafe answer.message.map { unsafe SystemText.shown($0) } ?? ""
      throw EtcdFailure(status: unsafe answer.status, message: text)
    }
    return unsafe [UInt8](UnsafeBufferPointer(start: answer.bytes, count: answer.count))
  }

  /// Calls `body` with the text of a token, which ends with a 0.
  private static func withText<Result>(
    _ token: SecureBytes?, _ body: (UnsafePointer<CChar>?) -> Result
  ) -> Result {
    guard let token else { return body(nil) }
    return token.withBytes { bytes in
      unsafe bytes.withUnsafeBytes { bytes in
        unsafe body(bytes.baseAddress?.assumingMemoryBound(to: CChar.self))
      }
    }
  }
}

/// A call that many messages answer.
///
/// One thread receives; any thread may end it.
@safe
final class EtcdStream: @unchecked Sendable {
  // gRPC's calls may be cancelled by any thread; the rest is used by the one that receives.
  private let stream: OpaquePointer
  private let channel: EtcdChannel
  private let process = OwnProcess()

  fileprivate init(_ stream: OpaquePointer, _ channel: EtcdChannel) {
    unsafe self.stream = unsafe stream
    self.channel = channel
  }

  deinit { if process.isCurrent { unsafe sps_grpc_stream_free(stream) } }

  /// Waits for the next message.
  ///
  /// - Returns: nil when none came in this time.
  /// - Throws: `EtcdFailure` when the call has ended.
  func next(within nanoseconds: Int64) throws(EtcdFailure) -> [UInt8]? {
    var answer = unsafe sps_grpc_answer()
    defer { unsafe sps_grpc_answer_free(&answer) }
    switch unsafe sps_grpc_stream_next(stream, nanoseconds, &answer) {
    case 0: return nil
    case 1: return unsafe try EtcdChannel.bytes(of: answer)
    default:
      let text = unsafe answer.message.map { unsafe SystemText.shown($0) } ?? ""
      throw EtcdFailure(status: unsafe answer.status, message: text)
    }
  }

  /// Ends the call soon; ``next(within:)`` then throws.
  func cancel() { if process.isCurrent { unsafe sps_grpc_stream_cancel(stream) } }
}
