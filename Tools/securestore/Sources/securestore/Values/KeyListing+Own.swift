internal import StorageCore

extension KeyListing {
  /// The names of the program's own values.
  ///
  /// What the machines of a store in etcd have said of their keys (`EtcdStorage.machinePrefix`) is left
  /// out; doctor shows it.
  var own: [StoreKey] { keys.filter { !$0.hasPrefix("securestore.machine/") } }

  /// Says that values can't be read, and what that may be, for people.
  ///
  /// Only a check of the whole store can tell damage from a value of another tag.
  static func unreadable(_ count: Int, _ noun: String = "value") -> String {
    Printable.count(count, noun)
      + " can't be read: damaged, or sealed with another --authentication-tag; see verify"
  }
}
