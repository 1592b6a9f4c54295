internal import CryptoCore
internal import RemoteBackend
internal import StorageCore

/// A store's rows in etcd, below a prefix.
///
/// One connection for each member, of which one is used until it fails. A call tries the members in
/// turn until the deadline. It is tried again only where nothing was done.
final class EtcdEngine: RemoteEngine {
  /// How long one member has for its answer.
  ///
  /// etcd itself takes 7 s to say that there is no leader. A long request has more, for links with
  /// 125 KB a second, and a read twice as much for each time that no member has answered.
  private static let longestAttempt: Int64 = 2_000_000_000
  private static let nanosecondsPerByte: Int64 = 8_000
  /// How long the first question to a member waits before the connection is looked at.
  private static let firstAttempt: Int64 = 400_000_000

  let title: String
  /// etcd's own, unless its operator has set others.
  static let limits = RemoteLimits(operations: 128, bytes: 1_500_000)
  var limits: RemoteLimits { Self.limits }
  private let endpoints: [EtcdEndpoint]
  /// The name of the first row, and what is after the last one.
  let first: [UInt8]
  let end: [UInt8]
  private let certificates: EtcdCertificates?
  private let user: EtcdUser?
  private let process = OwnProcess()
  private let state = Lock(State())

  private struct State {
    /// The member that is asked, as an index.
    var current = 0
    var channels: [Int: EtcdChannel] = [:]
    /// What proves the user; ends with a 0.
    var token: SecureBytes?
    /// The members to which a connection could be made, the last time that it was tried.
    var reached: Set<Int> = []
    /// Why no call to a member can succeed.
    var refusals: [Int: StorageError] = [:]
    /// How often all members were asked in vain since one answered.
    var failures = 0
  }

  /// The rows below a prefix.
  init(
    _ endpoints: [EtcdEndpoint], prefix: String, certificates: EtcdCertificates?, user: EtcdUser?
  ) {
    self.endpoints = endpoints
    title = "\(endpoints.map(\.text).joined(separator: ","))\(prefix)"
    first = Array(prefix.utf8) + [UInt8(ascii: "/")]
    end = Array(prefix.utf8) + [UInt8(ascii: "/") + 1]
    (self.certificates, self.user) = (certificates, user)
  }

  // MARK: Calls

  /// The methods that are used.
  enum Method {
    static let range = "/etcdserverpb.KV/Range"
    static let transaction = "/etcdserverpb.KV/Txn"
    static let watch = "/etcdserverpb.Watch/Watch"
    static let authenticate = "/etcdserverpb.Auth/Authenticate"
  }

  /// What a call found out.
  enum Answer {
    case done([UInt8])
    case tooLarge
    case tooSlow
  }

  /// Asks one member after the other until one answers.
  ///
  /// - Parameters:
  ///   - method: which call.
  ///   - request: the message.
  ///   - kind: what the call may have changed when its answer is lost.
  ///   - isPage: whether the caller asks for less when the answer takes too long.
  ///   - deadline: the end of all attempts.
  /// - Returns: the answer, or why it was not given.
  /// - Throws: `StorageError`: at the deadline what the last member said.
  func ask(
    _ method: String, _ request: [UInt8], _ kind: EtcdFailure.Call, isPage: Bool = false,
    by deadline: Deadline
  ) throws(StorageError) -> Answer {
    try require(process, of: "etcd")
    var attempt = 0
    var span = Self.longestAttempt + Int64(request.count) * Self.nanosecondsPerByte
    var hasNewToken = false
    var patience: Set<Int> = []
    while true {
      let (index, channel) = try channel()
      let isKnown = kind == .write || state.withLock { $0.reached.contains(index) }
      let isFirst = !isKnown && !patience.contains(index)
      let failure: EtcdFailure
      do throws(EtcdFailure) {
        let first = isFirst ? Self.firstAttempt : .max
        let token = try token(channel, within: min(Self.span(to: deadline), first))
        let bytes = try channel.call(
          method, request, token: token, nanoseconds: min(deadline.nanoseconds, span, first))
        noteAnswer(of: index)
        return .done(bytes)
      } catch {
        failure = error
      }
      switch failure.kind {
      case .refused:
        noteAnswer(of: index)
        throw failure.error(of: kind, at: title)
      case .tooLarge: return .tooLarge
      case .compacted: throw failure.error(of: kind, at: title)
      case .staleToken:
        guard user != nil, !hasNewToken else { throw failure.error(of: kind, at: title) }
        hasNewToken = true
        state.withLock { $0.token = nil }
        continue
      case .unknown where kind == .write:
        leave(index)
        throw failure.error(of: kind, at: title)
      case .unknown where !isFirst && isPage && failure.isOfTime && !deadline.isOver:
        leave(index)
        return .tooSlow
      case .notDone, .unknown:
        // One that can be reached, or is slow, gets the usual time on the same connection.
        if !isKnown, try !isRefused(index), isFirst, failure.isOfTime, !deadline.isOver {
          patience.insert(index)
          continue
        }
        leave(index)
      }
      attempt += 1
      guard !deadline.isOver else { throw failure.error(of: kind, at: title) }
      if attempt % endpoints.count == 0 {
        let failures = state.withLock { state in
          defer { state.failures += 1 }
          return state.failures
        }
        pause(after: failures, atMost: 3_000_000, by: deadline)
        if failure.isOfTime { span *= 2 }
      }
    }
  }

  private func noteAnswer(of index: Int) {
    state.withLock { state in
      guard state.failures > 0 || !state.reached.contains(index) else { return }
      (state.failures, state.refusals[index]) = (0, nil)
      state.reached.insert(index)
    }
  }

  /// Looks at a member that has not answered.
  ///
  /// - Returns: whether no call to it can succeed.
  /// - Throws: why, where none to any member can.
  private func isRefused(_ index: Int) throws(StorageError) -> Bool {
    let verdict = EtcdProbe.verdict(of: endpoints[index], try texts(of: index))
    let refusals = state.withLock { state in
      switch verdict {
      case .refused(let refusal): state.refusals[index] = refusal
      case .good:
        state.refusals[index] = nil
        state.reached.insert(index)
      case .unknown: break
      }
      return state.refusals
    }
    guard case .refused(let refusal) = verdict else { return false }
    if refusals.count == endpoints.count { throw refusal }
    return true
  }

  /// The answer to a call that fits into one message.
  func call(
    _ method: String, _ request: [UInt8], _ kind: EtcdFailure.Call, by deadline: Deadline
  ) throws(StorageError) -> ArraySlice<UInt8> {
    guard case .done(let bytes) = try ask(method, request, kind, by: deadline) else {
      throw StorageError(
        .invalid, "the message is larger than etcd and this program take; use smaller ones",
        path: title)
    }
    return bytes[...]
  }

  private static func span(to deadline: Deadline) -> Int64 {
    min(deadline.nanoseconds, longestAttempt)
  }

  /// The member to ask, and its connection.
  private func channel() throws(StorageError) -> (index: Int, EtcdChannel) {
    try state.withLock { (state) throws(StorageError) in
      let index = state.current
      if let channel = state.channels[index] { return (index, channel) }
      let channel = try connect(index)
      state.channels[index] = channel
      return (index, channel)
    }
  }

  private func connect(_ index: Int) throws(StorageError) -> EtcdChannel {
    try EtcdChannel(endpoints[index], texts(of: index))
  }

  /// The certificates of a connection; they are read again for each one, since they are renewed.
  private func texts(of index: Int) throws(StorageError) -> EtcdCertificates.Texts? {
    try endpoints[index].isEncrypted ? (certificates ?? EtcdCertificates()).read() : nil
  }

  /// Asks another member from now on, and connects anew when it is this one's turn again.
  private func leave(_ index: Int) {
    state.withLock { state in
      guard state.current == index else { return }
      state.current = (index + 1) % endpoints.count
      state.channels[index] = nil
      state.reached.remove(index)
    }
  }

  /// The token of the user; nil without a user.
  private func token(
    _ channel: EtcdChannel, within nanoseconds: Int64
  ) throws(EtcdFailure) -> SecureBytes? {
    guard let user else { return nil }
    if let token = state.withLock({ $0.token }) { return token }
    let request: [UInt8]
    do throws(StorageError) {
      request = try user.password().withBytes { password in
        unsafe password.withUnsafeBytes { unsafe EtcdRequest.authenticate(user.name, $0) }
      }
    } catch {
      throw EtcdFailure(error)
    }
    // gRPC has copies of its own, so wiping this one would not remove the password from memory.
    let answer = try channel.call(
      Method.authenticate, request, token: nil, nanoseconds: nanoseconds)
    do throws(StorageError) {
      let text = try EtcdToken(answer[...]).text
      let token = try cryptography { () throws(CryptoError) in
        try SecureBytes(Array(text.utf8) + [0])
      }
      state.withLock { $0.token = token }
      return token
    } catch {
      throw EtcdFailure(error)
    }
  }

  // MARK: For one member

  /// The addresses, as the program gave them.
  var endpointTexts: [String] { endpoints.map(\.text) }

  /// Asks one member something that has no parameters, on a connection of its own.
  ///
  /// - Parameters:
  ///   - index: the member.
  ///   - method: the question.
  ///   - certificate: gets the member's certificate as PEM, where there is one.
  /// - Returns: the answer.
  /// - Throws: `StorageError` when there is none.
  func ask(
    _ index: Int, _ method: String, certificate: @escaping (String) -> Void
  ) throws(StorageError) -> [UInt8] {
    try require(process, of: "etcd")
    let deadline = Deadline(after: .seconds(3))
    let channel = try connect(index)
    do throws(EtcdFailure) {
      let token = try token(channel, within: Self.span(to: deadline))
      return try channel.call(
        method, [], token: token, nanoseconds: Self.span(to: deadline), certificate: certificate)
    } catch {
      let isAnswer = if case .refused = error.kind { true } else { false }
      if !isAnswer,
        case .refused(let refusal) = EtcdProbe.verdict(of: endpoints[index], try texts(of: index))
      {
        throw refusal
      }
      throw error.error(of: .read, at: endpoints[index].text)
    }
  }

  // MARK: For the watch

  /// Begins to watch at the member that is asked.
  func stream(_ request: [UInt8]) throws(StorageError) -> (index: Int, EtcdStream) {
    try require(process, of: "etcd")
    let (index, channel) = try channel()
    let token: SecureBytes?
    do throws(EtcdFailure) {
      token = try self.token(channel, within: Self.longestAttempt)
    } catch {
      throw failed(error, at: index)
    }
    guard let stream = channel.stream(Method.watch, request, token: token) else {
      throw StorageError(.io, "there is no memory for a watch of etcd", path: title)
    }
    return (index, stream)
  }

  /// The error of a watch that ended at a member; another one is asked next.
  func failed(_ failure: EtcdFailure, at index: Int) -> StorageError {
    if case .staleToken = failure.kind {
      state.withLock { $0.token = nil }
    } else {
      leave(index)
    }
    return failure.error(of: .read, at: title)
  }

  /// A row of the store as a change; nil for one that is none of this store's.
  func change(_ event: (row: EtcdRow, isRemoval: Bool)) -> Row? {
    row(event.row).map { Row($0.key, event.isRemoval ? nil : $0.value, version: $0.version) }
  }
}
