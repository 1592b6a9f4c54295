internal import CryptoCore
internal import Glibc
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
  /// A page that takes longer is followed by a smaller one.
  private static let longPage: Int64 = 500_000_000
  /// How many rows an answer has at most.
  ///
  /// etcd counts all rows for each page, so with pages of 1000 a list of 100,000 takes three times as
  /// long.
  private static let page = 5000

  let title: String
  /// etcd's own, unless its operator has set others.
  static let limits = RemoteLimits(operations: 128, bytes: 1_500_000)
  var limits: RemoteLimits { Self.limits }
  private let endpoints: [EtcdEndpoint]
  /// The name of the first row, and what is after the last one.
  private let first: [UInt8]
  private let end: [UInt8]
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
  private enum Answer {
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
  private func ask(
    _ method: String, _ request: [UInt8], _ kind: EtcdFailure.Call, isPage: Bool = false,
    by deadline: Deadline
  ) throws(StorageError) -> Answer {
    try requireProcess()
    var attempt = 0
    var span = Self.longestAttempt + Int64(request.count) * Self.nanosecondsPerByte
    var badCertificates = 0
    var hasNewToken = false
    while true {
      let (index, channel) = try channel()
      let failure: EtcdFailure
      do throws(EtcdFailure) {
        let token = try token(channel, by: deadline)
        return .done(
          try channel.call(
            method, request, token: token, nanoseconds: min(deadline.nanoseconds, span)))
      } catch {
        failure = error
      }
      switch failure.kind {
      case .refused: throw failure.error(of: kind, at: title)
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
      case .unknown where isPage && failure.isOfTime && !deadline.isOver:
        leave(index)
        return .tooSlow
      case .notDone, .unknown: leave(index)
      }
      badCertificates = failure.isOfCertificates ? badCertificates + 1 : 0
      attempt += 1
      guard badCertificates < endpoints.count, !deadline.isOver else {
        throw failure.error(of: kind, at: title)
      }
      if attempt % endpoints.count == 0 {
        // All members were asked. Nothing tells when one comes back, and a refused connection takes
        // no time, so without a pause this would keep a core busy.
        usleep(50_000)
        if failure.isOfTime { span *= 2 }
      }
    }
  }

  /// The answer to a call that fits into one message.
  private func call(
    _ method: String, _ request: [UInt8], _ kind: EtcdFailure.Call, by deadline: Deadline
  ) throws(StorageError) -> ArraySlice<UInt8> {
    guard case .done(let bytes) = try ask(method, request, kind, by: deadline) else {
      throw StorageError(
        .invalid, "the message is larger than etcd and this program take; use smaller ones",
        path: title)
    }
    return bytes[...]
  }

  private func requireProcess() throws(StorageError) {
    guard process.isCurrent else {
      throw StorageError(
        .unsupported,
        "etcd can't be used in a forked child of a program that uses it; exec first", path: title)
    }
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
    // The files are read again for each new connection, since certificates are renewed.
    let texts =
      try endpoints[index].isEncrypted ? (certificates ?? EtcdCertificates()).read() : nil
    return try EtcdChannel(endpoints[index], texts)
  }

  /// Asks another member from now on, and connects anew when it is this one's turn again.
  private func leave(_ index: Int) {
    state.withLock { state in
      guard state.current == index else { return }
      state.current = (index + 1) % endpoints.count
      state.channels[index] = nil
    }
  }

  /// The token of the user; nil without a user.
  private func token(
    _ channel: EtcdChannel, by deadline: Deadline
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
      Method.authenticate, request, token: nil, nanoseconds: Self.span(to: deadline))
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

  // MARK: Rows

  private func name(_ key: RowKey) -> [UInt8] { first + key.bytes }

  /// The row of the store; nil for one that is none of this store's.
  private func row(_ row: EtcdRow) -> Row? {
    guard row.key.starts(with: first), let key = RowKey(row.key.dropFirst(first.count)) else {
      return nil
    }
    return Row(key, Array(row.value), version: row.revision)
  }

  func history(by deadline: Deadline) throws(StorageError) -> String {
    let request = EtcdRequest.range(name(.header), keysOnly: true)
    let answer = try EtcdRange(call(Method.range, request, .read, by: deadline))
    return String(answer.header.cluster, radix: 16)
  }

  func read(
    _ keys: [RowKey], by deadline: Deadline
  ) throws(StorageError) -> (rows: [Row?], mark: Mark) {
    let request = EtcdRequest.transaction(checks: [], success: keys.map { .range(key: name($0)) })
    let answer = try EtcdTransaction(call(Method.transaction, request, .read, by: deadline))
    guard answer.isDone, answer.ranges.count == keys.count else {
      throw StorageError(.damaged, "etcd's answer does not belong to the question", path: title)
    }
    return (answer.ranges.map { $0.rows.first.flatMap(row) }, answer.header.revision)
  }

  func commit(
    _ commit: RemoteCommit, by deadline: Deadline
  ) throws(StorageError) -> Mark? {
    let request = EtcdRequest.transaction(
      checks: commit.checks.map { (name($0.key), $0.version) },
      success: commit.writes.map { key, value in
        value.map { .put(key: name(key), value: $0) } ?? .delete(key: name(key))
      },
      // A transaction that writes nothing is answered from an old state unless it reads.
      failure: [.range(key: name(.header))])
    let bytes = try call(Method.transaction, request, .write, by: deadline)
    do throws(StorageError) {
      let answer = try EtcdTransaction(bytes)
      return answer.isDone ? answer.header.revision : nil
    } catch {
      // Whoever answered nonsense may have made the commit.
      throw StorageError(.outcomeUnknown, error.message, path: title)
    }
  }

  func list(
    keysOnly: Bool, by deadline: Deadline, _ body: ([Row]) throws(StorageError) -> Void
  ) throws(StorageError) -> Mark {
    var limit = Self.page
    var from = first
    var revision: Mark = 0
    while true {
      let request = EtcdRequest.range(
        from, to: end, limit: limit, revision: revision, keysOnly: keysOnly)
      let begin = MonotonicTime.now
      let bytes: [UInt8]
      switch try ask(Method.range, request, .read, isPage: limit > 1, by: deadline) {
      case .done(let answer): bytes = answer
      case .tooSlow:
        limit = max(limit / 8, 1)
        continue
      case .tooLarge:
        guard limit > 1 else {
          throw StorageError(
            .damaged, "a row of the store is larger than any that this program writes", path: title)
        }
        limit = max(limit / 8, 1)
        continue
      }
      if MonotonicTime.now.since(begin) < Self.longPage { limit = min(limit * 2, Self.page) }
      let answer = try EtcdRange(bytes[...])
      if revision == 0 { revision = answer.header.revision }
      try body(answer.rows.compactMap(row))
      guard answer.hasMore, let last = answer.rows.last else { return revision }
      from = Array(last.key) + [0]
    }
  }

  func watch(
    from mark: Mark, _ tell: @escaping @Sendable (WatchSignal) -> Void
  ) -> ChangeObservation {
    let watch = EtcdWatch(engine: self, first: first, end: end, from: mark, tell)
    DetachedThread.start("sps-etcd") { watch.run() }
    return ChangeObservation { watch.stop() }
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
    try requireProcess()
    let deadline = Deadline(after: .seconds(3))
    let channel = try connect(index)
    do throws(EtcdFailure) {
      let token = try token(channel, by: deadline)
      return try channel.call(
        method, [], token: token, nanoseconds: Self.span(to: deadline), certificate: certificate)
    } catch {
      throw error.error(of: .read, at: endpoints[index].text)
    }
  }

  // MARK: For the watch

  /// Begins to watch at the member that is asked.
  func stream(_ request: [UInt8]) throws(StorageError) -> (index: Int, EtcdStream) {
    try requireProcess()
    let (index, channel) = try channel()
    let token: SecureBytes?
    do throws(EtcdFailure) {
      token = try self.token(channel, by: Deadline(after: .seconds(5)))
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
  func change(_ event: (row: EtcdRow, isRemoval: Bool)) -> RemoteChange? {
    row(event.row).map {
      RemoteChange($0.key, event.isRemoval ? nil : $0.value, version: $0.version)
    }
  }
}
