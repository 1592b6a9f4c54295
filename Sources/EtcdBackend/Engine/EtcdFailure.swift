internal import StorageCore

/// A call to etcd that failed, and what that means.
///
/// etcd says why in words; the status of a call alone tells too little. Each text here was seen in
/// an answer of etcd 3.4. What is not known counts as not known.
struct EtcdFailure: Error {
  /// The status of the call, as gRPC numbers it.
  let status: Int32
  /// What the engine or gRPC says.
  let message: String
  /// Why the call was not made, if that has nothing to do with etcd.
  private var cause: StorageError?

  /// A call that etcd or gRPC ended so.
  init(status: Int32, message: String) { (self.status, self.message) = (status, message) }

  /// A call that was not made.
  init(_ cause: StorageError) { (status, message, self.cause) = (0, cause.message, cause) }

  /// What was asked.
  enum Call {
    /// It changes nothing.
    case read
    /// It may have been done although there is no answer.
    case write
  }

  /// What to do next.
  enum Kind {
    /// Nothing was done; another member may do it.
    case notDone
    /// Nothing was done, and this will not change by itself.
    case refused(StorageError.Code, String)
    /// Nothing was done, because the token is not valid any more.
    case staleToken
    /// The revision that was asked for is gone.
    case compacted
    /// The answer is too large for one message.
    case tooLarge
    /// Nobody knows whether it was done.
    case unknown
  }

  /// gRPC's numbers.
  private enum Status {
    static let invalidArgument: Int32 = 3
    static let deadlineExceeded: Int32 = 4
    static let permissionDenied: Int32 = 7
    static let resourceExhausted: Int32 = 8
    static let failedPrecondition: Int32 = 9
    static let outOfRange: Int32 = 11
    static let unimplemented: Int32 = 12
    static let unavailable: Int32 = 14
    static let unauthenticated: Int32 = 16
  }

  /// Where a commit that was not done can be told from one that was cut off.
  ///
  /// Not "server stopped": a member that stops says so of what it has already proposed to the
  /// others, who may still make it.
  private static let notDone = [
    "failed to connect to all addresses", "etcdserver: no leader", "etcdserver: too many requests",
    "etcdserver: not capable",
  ]

  var kind: Kind {
    if let cause { return .refused(cause.code, cause.message) }
    switch status {
    case Status.unauthenticated: return .staleToken
    // Users or roles were changed since the token was made, which a token of the kind JWT tells.
    case Status.invalidArgument where says("revision of auth store is old"): return .staleToken
    case Status.permissionDenied:
      return .refused(
        .denied, "etcd does not let this user use these keys; grant its role the store's prefix")
    case Status.invalidArgument where says("authentication failed"):
      return .refused(.denied, "etcd refuses the user's name or password")
    case Status.invalidArgument where says("user name is empty"):
      return .refused(.denied, "etcd asks for a user and a password; pass `user:`")
    case Status.invalidArgument where says("too large"),
      Status.invalidArgument where says("too many"):
      return .refused(.invalid, "the write is larger than this etcd takes")
    case Status.failedPrecondition where says("authentication is not enabled"):
      return .refused(
        .invalid,
        "etcd has no users because its authentication is off; turn it on, or pass no user")
    // etcd makes a commit that reaches its quota, and says this; `RemoteWriter` finds out.
    case Status.resourceExhausted where says("space exceeded"):
      return .refused(
        .full,
        "etcd's database has reached its quota; compact and defragment it, and disarm the alarm")
    case Status.resourceExhausted where says("trying to send message larger"),
      Status.resourceExhausted where says("message larger than max"):
      return .tooLarge
    case Status.resourceExhausted where says("too many requests"): return .notDone
    case Status.outOfRange where says("compacted"): return .compacted
    case Status.unimplemented:
      return .refused(
        .invalid, "something answers here that is not etcd's API 3; check the endpoint")
    case Status.unavailable where Self.notDone.contains(where: says): return .notDone
    default: return .unknown
    }
  }

  private func says(_ text: String) -> Bool { message.contains(text) }

  /// Whether there was no answer in the time that the call had.
  var isOfTime: Bool { status == Status.deadlineExceeded }

  /// The error of a call after which nothing more is tried.
  func error(of call: Call, at title: String) -> StorageError {
    if let cause { return cause }
    let said = message.isEmpty ? "status \(status)" : message
    return switch kind {
    case .notDone:
      StorageError(
        .unavailable, "no member of etcd could be asked, so nothing was done: \(said)",
        path: title, number: Int(status))
    case .refused(let code, let text):
      StorageError(code, "\(text) (\(said))", path: title, number: Int(status))
    case .staleToken:
      StorageError(
        .denied, "etcd does not accept the user's token: \(said)", path: title, number: Int(status))
    case .compacted:
      StorageError(
        .busy, "etcd dropped the revision while it was read; try again", path: title,
        number: Int(status))
    case .tooLarge:
      StorageError(
        .invalid, "the message is larger than etcd and this program take: \(said)", path: title,
        number: Int(status))
    case .unknown:
      switch call {
      case .read:
        StorageError(
          .unavailable, "etcd did not answer: \(said)", path: title, number: Int(status))
      case .write:
        StorageError(
          .outcomeUnknown, "etcd's answer to the write was lost: \(said)", path: title,
          number: Int(status))
      }
    }
  }
}
