internal import StorageCore

extension KeyListing {
  /// The names of the program's own values.
  ///
  /// What the machines of a store in etcd have said of their keys (`EtcdStorage.machinePrefix`) is left
  /// out; doctor shows it.
  var own: [StoreKey] { keys.filter { !$0.hasPrefix("securestore.machine/") } }
}
