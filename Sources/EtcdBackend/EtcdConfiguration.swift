internal import RemoteBackend
public import StorageCore

/// Where a store is in etcd, and how this program gets there.
public struct EtcdConfiguration: Sendable {
  /// The addresses of the members, such as "https://10.0.0.5:2379".
  ///
  /// Name all members: those that are not named are not asked when others fail. With `http`
  /// everybody on the way can see sizes and times, and forge answers, which become errors.
  public var endpoints: [String]

  /// The name of the store: its rows have names that begin with this text and a slash.
  ///
  /// The store's keys are bound to it, so rows that are copied below another prefix don't open.
  public var prefix: String

  /// The certificates of encrypted connections; nil for the authorities of the system.
  public var certificates: EtcdCertificates?

  /// The user of etcd; nil where etcd asks for none, or takes the name from the certificate.
  public var user: EtcdUser?

  /// What the program may do; by default it changes values and never makes a store.
  ///
  /// `.readWrite` means the same here: only ``EtcdStorage/create()`` makes a store.
  public var access: StoreAccess

  /// How long a call may take, with all that it asks and all times that a body runs again.
  ///
  /// While etcd elects a leader, which takes up to 3 s, writes wait.
  public var deadline: Duration

  /// Where this machine keeps a copy of the store, such as a `VaultStorage`; nil for nowhere.
  ///
  /// With a copy a program starts while etcd is away, and ``EtcdStorage/state`` says how old its
  /// values are. It also sees at its start that etcd has gone back to an older state: use is then the
  /// error `damaged`. Changes get into the copy within a second; ``EtcdStorage/refresh()`` waits for
  /// that. The storage holds nothing else, and has a key of its own.
  public var copy: DelegatedStorage?

  /// A store in etcd.
  ///
  /// - Parameters:
  ///   - endpoints: the addresses of the members.
  ///   - prefix: the name of the store, such as "/apps/shop"; it doesn't end with a slash.
  ///   - certificates: the certificates of encrypted connections.
  ///   - user: the user of etcd.
  ///   - access: what the program may do.
  ///   - deadline: how long a call may take.
  ///   - copy: where this machine keeps a copy of the store.
  public init(
    endpoints: [String], prefix: String, certificates: EtcdCertificates? = nil,
    user: EtcdUser? = nil, access: StoreAccess = .mustExist, deadline: Duration = .seconds(10),
    copy: DelegatedStorage? = nil
  ) {
    (self.endpoints, self.prefix, self.certificates) = (endpoints, prefix, certificates)
    (self.user, self.access, self.deadline, self.copy) = (user, access, deadline, copy)
  }
}

/// How new a value is that a reader gets.
public struct EtcdReading: Sendable {
  let reading: Reading

  /// What this process has in memory, which a watch keeps current; costs no call.
  ///
  /// It is behind by the time that a change takes to get here, some milliseconds; by more while etcd
  /// is away, which ``EtcdStorage/state`` tells. A process reads its own writes.
  public static let cached = EtcdReading(reading: .cached)

  /// What this process has in memory, if that was all that there was at a time no longer ago than
  /// this; else as ``linearizable``.
  public static func cached(maximumAge: Duration) -> EtcdReading {
    EtcdReading(reading: .cachedFor(maximumAge))
  }

  /// The value of etcd's majority, no older than the call; costs a call, and an error if etcd is
  /// away.
  public static let linearizable = EtcdReading(reading: .linearizable)
}

/// How current this process's copy of a store in etcd is.
public enum EtcdState: Sendable {
  /// No read has succeeded yet; one that fails says why.
  case unused
  /// Changes are followed, and the last question to etcd was answered.
  ///
  /// Everything that was written so long ago is known; the age also grows while nothing is written.
  case current(age: Duration)
  /// Changes can't be followed, or the last question failed, for this reason and for so long; reads give what is known.
  case away(StorageError, since: Duration, age: Duration)
  /// Changes are followed, but for this reason and for so long they can't be written to this machine's
  /// copy.
  case unkept(StorageError, since: Duration, age: Duration)
}
