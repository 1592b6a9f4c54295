/// How many records a re-encryption has sealed again, and how many it has left.
///
/// Check the report: a value that was set aside can't be read, and while records remain under an
/// old data key, that key still opens records.
public struct ReencryptionReport: Hashable, Sendable {
  /// The number of records that were sealed again with the primary data key.
  public let reencrypted: Int
  /// The number of records that stay under old data keys, which stay valid for them.
  ///
  /// These are damaged records, records of another authentication tag, and in a vault records that
  /// the manifest does not account for, or that are missing from the vault.
  ///
  /// 0 after a rotation that ended the old data keys.
  public let remaining: Int
  /// The number of records that stay in place but no longer open: reading them throws `damaged`.
  ///
  /// Their data key was retired or is unknown.
  /// ``KeyAdministration/reencrypt(readmitting:expecting:progress:)`` takes back the records that
  /// opened before.
  public let setAside: Int
  /// The number of retired data keys that the store keeps.
  ///
  /// They open nothing unless a record is taken back. A key stays as long as a listed record names
  /// it, and, where nothing proves that all records are listed, until
  /// ``KeyAdministration/dropRetiredKeys()``. Only a sound vault and memory prove that.
  public let retiredKeyCount: Int
  /// The key names of records that were set aside, sorted: at most 1,000.
  ///
  /// The names of damaged records and of records with another authentication tag are not known.
  public let setAsideKeys: [StoreKey]

  init(
    reencrypted: Int, remaining: Int, setAside: Int, retiredKeyCount: Int, keys: [StoreKey]
  ) {
    self.reencrypted = reencrypted
    self.remaining = remaining
    self.setAside = setAside
    self.retiredKeyCount = retiredKeyCount
    setAsideKeys = keys
  }

  /// The same report with `count` more records that were sealed again.
  func adding(_ count: Int) -> ReencryptionReport {
    ReencryptionReport(
      reencrypted: reencrypted + count, remaining: remaining, setAside: setAside,
      retiredKeyCount: retiredKeyCount, keys: setAsideKeys)
  }
}
