public import RemoteBackend
internal import StorageCore

extension RemoteDelegate {
  /// The delegate of a store in etcd.
  ///
  /// Nothing is asked before the first use.
  ///
  /// - Parameters:
  ///   - configuration: where the store is.
  ///   - reading: how new the values are that readers get.
  public convenience init(_ configuration: EtcdConfiguration, reading: RemoteReading = .cached) {
    self.init(reading: reading, Self.etcdAdvice) { () throws(StorageError) in
      try EtcdPlaces.place(of: configuration)
    }
  }

  /// The delegate of the store that `configuration` returns at the first use.
  static func etcd(
    reading: RemoteReading,
    _ configuration: @escaping @Sendable () throws(StorageError) -> EtcdConfiguration
  ) -> RemoteDelegate {
    RemoteDelegate(reading: reading, etcdAdvice) { () throws(StorageError) in
      try EtcdPlaces.place(of: configuration())
    }
  }

  private static let etcdAdvice = Advice(
    missing:
      "there is no store below this prefix in etcd, and none was made; check the addresses and "
      + "the prefix. A new store is made once, on one machine, by EtcdStorage.create() or securestore "
      + "init --etcd",
    removal: { prefix in
      // As a shell reads it.
      let name = prefix.split(separator: "'", omittingEmptySubsequences: false)
        .joined(separator: "'\\''")
      return "etcd's administrator run: etcdctl del --prefix '\(name)/'"
    })
}

/// The places of this process, one for each store and user.
private enum EtcdPlaces {
  private static let all = WeakTable<[ExactString], RemotePlace>()

  static func place(of configuration: EtcdConfiguration) throws(StorageError) -> RemotePlace {
    var endpoints: [EtcdEndpoint] = []
    for text in configuration.endpoints { endpoints.append(try EtcdEndpoint(text)) }
    guard !endpoints.isEmpty else {
      throw StorageError(.invalid, "a store in etcd needs the address of at least one member")
    }
    let prefix = configuration.prefix
    guard (1...512).contains(prefix.utf8.count), !prefix.hasSuffix("/"), !prefix.utf8.contains(0)
    else {
      throw StorageError(
        .invalid, "a prefix in etcd has 1 to 512 bytes and no slash at its end, such as /apps/shop")
    }
    // What leads to the store in another way has a connection of its own.
    var id = configuration.endpoints + [prefix]
    id += [configuration.user?.name ?? "", configuration.user?.source ?? ""]
    id += configuration.certificates?.paths ?? []
    id += ["\(configuration.access)", "\(configuration.deadline)"]
    if let copy = configuration.copy { id.append("\(ObjectIdentifier(copy))") }
    return try all.object(id.map { ExactString(text: $0) }) {
      () throws(StorageError) in
      var options = RemotePlace.Options()
      options.deadline = configuration.deadline
      options.access = configuration.access == .readOnly ? .readOnly : .mustExist
      options.place = prefix
      options.copy = configuration.copy
      let engine = EtcdEngine(
        endpoints, prefix: prefix, certificates: configuration.certificates,
        user: configuration.user)
      return RemotePlace(engine, options)
    }
  }
}
