package import RemoteBackend
internal import StorageCore

extension RemoteDelegate {
  /// The delegate of a store in etcd.
  ///
  /// Nothing is asked before the first use.
  ///
  /// - Parameters:
  ///   - configuration: where the store is.
  ///   - reading: how new the values are that readers get.
  package convenience init(_ configuration: EtcdConfiguration, reading: RemoteReading = .cached) {
    self.init(reading: reading, EtcdConfiguration.advice) { () throws(StorageError) in
      try configuration.way()
    }
  }
}

extension EtcdConfiguration {
  /// What users of etcd are told.
  static let advice = RemoteDelegate.Advice(
    missing:
      "there is no store below this prefix in etcd, and none was made; check the addresses and "
      + "the prefix. A new store is made once, on one machine, by EtcdStorage.create() or securestore "
      + "init --etcd",
    removal: { prefix, _ in
      // As a shell reads it.
      let name = prefix.split(separator: "'", omittingEmptySubsequences: false)
        .joined(separator: "'\\''")
      return "etcd's administrator run: etcdctl del --prefix '\(name)/'"
    })

  /// The way to the store.
  ///
  /// - Throws: `invalid` for an endpoint or a prefix that is none.
  func way() throws(StorageError) -> RemoteWay {
    var all: [EtcdEndpoint] = []
    for text in endpoints { all.append(try EtcdEndpoint(text)) }
    guard !all.isEmpty else {
      throw StorageError(.invalid, "a store in etcd needs the address of at least one member")
    }
    guard (1...512).contains(prefix.utf8.count), !prefix.hasSuffix("/"), !prefix.utf8.contains(0)
    else {
      throw StorageError(
        .invalid, "a prefix in etcd has 1 to 512 bytes and no slash at its end, such as /apps/shop")
    }
    let words =
      endpoints + [user?.name ?? "", user?.source ?? ""] + (certificates?.paths ?? [])
    return RemoteWay(words, place: prefix, access: access, deadline: deadline, copy: copy) {
      [all, prefix, certificates, user] in
      EtcdEngine(all, prefix: prefix, certificates: certificates, user: user)
    }
  }
}
