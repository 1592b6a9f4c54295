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
  /// `.readWrite` means the same here: only `create()` makes a store.
  public var access: StoreAccess

  /// How long a call may take, with all that it asks and all times that a body runs again.
  ///
  /// While etcd elects a leader, which takes up to 3 s, writes wait.
  public var deadline: Duration

  /// Where this machine keeps a copy of the store, such as a `VaultStorage`; nil for nowhere.
  ///
  /// With a copy a program starts while etcd is away, and `state` says how old its
  /// values are. It also sees at its start that etcd has gone back to an older state: use is then the
  /// error `damaged`. Changes get into the copy within a second; `refresh()` waits for
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
