/// What a re-encryption did, and what it left.
///
/// To be looked at: a value that is set aside can't be read, and while any remain an old data key
/// opens records.
public struct ReencryptionReport: Hashable, Sendable {
  /// Records that were sealed anew under the primary data key.
  public let reencrypted: Int
  /// Records that stay under old data keys, which stay valid for them: damaged ones, those of another
  /// authentication tag, and in a vault those that the manifest does not account for, or that are
  /// missing from it.
  ///
  /// 0 after a rotation that ended the old data keys.
  public let remaining: Int
  /// Records that stay in place and open no more, since the data key that they name was retired or
  /// dropped: they are read as `damaged`.
  ///
  /// ``KeyAdministration/reencrypt(readmitting:progress:)`` takes back what opened before.
  public let setAside: Int
  /// The keys of the records that were set aside, in order, as far as they can be known: at most 1,000,
  /// and not of damaged records or of those of another authentication tag.
  public let setAsideKeys: [StoreKey]

  init(reencrypted: Int, remaining: Int, setAside: Int, keys: [StoreKey]) {
    self.reencrypted = reencrypted
    self.remaining = remaining
    self.setAside = setAside
    setAsideKeys = keys
  }

  /// The same with more records that were sealed anew.
  func adding(_ count: Int) -> ReencryptionReport {
    ReencryptionReport(
      reencrypted: reencrypted + count, remaining: remaining, setAside: setAside, keys: setAsideKeys
    )
  }
}
