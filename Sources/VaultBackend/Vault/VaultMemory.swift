internal import CryptoCore
internal import StorageCore

/// What a process knows of a vault.
///
/// Readers hold its lock while they copy one record, and do no I/O.
struct VaultMemory: ~Copyable {
  /// What the file has to be like for `records` to be what it holds.
  enum Currency {
    /// Nobody knows: the file is to be looked at.
    case unknown
    /// The log's index in shared memory is as it was.
    case live(WriteAheadIndex, WriteAheadIndex.State)
    /// The files look as they did; for places that this process can't write to.
    case stamped(VaultFile.Stamp)
  }

  /// Not a tuple, which is copied and destroyed by way of its metadata.
  private struct WrittenManifest {
    let manifest: Manifest
    let keys: ManifestKeys
  }

  /// How many names are remembered that have no record.
  private static let absentLimit = 10_000
  /// The longest record that is kept.
  private static let recordLimit = 1 << 20

  private var currency = Currency.unknown
  /// What is known of names; without a record for a name that has none.
  private(set) var records = RecordTable<NameKey, KeptRecord>()
  /// Names whose record was too long to be kept.
  private(set) var unkept: Set<NameKey> = []
  private var absentCount = 0

  private(set) var header: [UInt8]?
  /// Changes whenever the header does.
  private(set) var headerVersion: UInt64 = 1
  /// The sequence number of the last commit that is known here; 0 for nothing at all.
  private(set) var generation: Int64 = 0
  /// Up to here tombstones may be gone that memory still has.
  private(set) var horizon: Int64 = 0
  /// The store that the header is of; nil when there is none.
  private(set) var store: SeenCommits.Store?
  /// Whether the file, or that there is none, was looked at before.
  private(set) var hasFollowed = false
  /// Whether the file was replaced, so that what is here may be of another one.
  private(set) var isSuspect = false
  /// Which file is open, where it is one whose index is looked at.
  var place: FileStatus.Identity?
  /// The manifest as this process wrote it last, and under which keys.
  private var writtenManifest: WrittenManifest?
  /// The manifest's keys that go with `headerVersion`.
  private var manifestKeys: (keys: ManifestKeys, headerVersion: UInt64)?

  /// Whether all this is what the file holds; `stamp` is the present state of the files, where that
  /// was asked for.
  @inline(__always)
  func isCurrent(_ stamp: VaultFile.Stamp?) -> Bool {
    switch currency {
    case .live(let index, let state): index.isStill(state)
    case .stamped(let expected): stamp == expected
    case .unknown: false
    }
  }

  /// The record of a name: nil when it is not known here.
  @inline(__always)
  func record(for name: NameHash) -> [UInt8]?? { records[NameKey(name)].map { $0.record } }

  /// Copies the record of a name, if it is known here, current and fits.
  ///
  /// Counts no reference: this is what readers on all cores do at once.
  @inline(__always)
  func copy(_ name: NameHash, into buffer: UnsafeMutableRawBufferPointer) -> RecordCopy? {
    guard isCurrent(nil), let kept = unsafe records.uncounted(NameKey(name)) else { return nil }
    return unsafe kept._withUnsafeGuaranteedRef { kept in
      guard let record = kept.record else { return RecordCopy(absentUnder: headerVersion) }
      return unsafe RecordCopy(of: record, into: buffer, headerVersion: headerVersion)
    }
  }

  /// What a write under a name replaces: nil when it is not known here.
  func replaced(_ name: NameHash, _ keys: ManifestKeys?) -> VaultTransaction.Replaced? {
    guard let kept = records[NameKey(name)], kept.removal == 0 || kept.removal > horizon else {
      return nil
    }
    return kept.replaced(under: keys)
  }

  /// The keys of the manifest, if they were opened for the present header.
  var currentManifestKeys: ManifestKeys? {
    guard let manifestKeys, manifestKeys.headerVersion == headerVersion else { return nil }
    return manifestKeys.keys
  }

  // MARK: - Changing

  /// Keeps a record that was read or written, or that there is none.
  mutating func keep(_ kept: KeptRecord, for name: NameHash) {
    guard let record = kept.record, record.count <= Self.recordLimit else {
      drop(name)
      if kept.record != nil { unkept.insert(NameKey(name)) }
      guard kept.record == nil, absentCount < Self.absentLimit else { return }
      records.update(kept, for: NameKey(name))
      absentCount += 1
      return
    }
    if let old = records.update(kept, for: NameKey(name)), old.record == nil {
      absentCount -= 1
    }
    if !unkept.isEmpty { unkept.remove(NameKey(name)) }
  }

  /// Drops what is known of a name.
  mutating func drop(_ name: NameHash) {
    if let old = records.remove(NameKey(name)), old.record == nil { absentCount -= 1 }
    if !unkept.isEmpty { unkept.remove(NameKey(name)) }
  }

  /// Drops what is known of all names.
  mutating func dropAll() {
    records.removeAll()
    unkept = []
    absentCount = 0
  }

  /// Moves on to a state of the file, whose manifest is to be read.
  mutating func follow(_ generation: Int64, horizon: Int64, _ currency: Currency) {
    self.generation = generation
    self.horizon = horizon
    // Whoever wrote may have left the sequence number as it was, and the manifest not.
    writtenManifest = nil
    self.currency = currency
    hasFollowed = true
    isSuspect = false
  }

  /// Keeps the manifest that was written with the state that was moved on to last.
  mutating func keep(_ manifest: Manifest?, _ keys: ManifestKeys?) {
    writtenManifest = nil
    if let manifest, let keys { writtenManifest = WrittenManifest(manifest: manifest, keys: keys) }
  }

  /// The manifest in the file, if it is the one that this process wrote under `keys`: then it need be
  /// neither read nor authenticated again.
  func manifest(_ keys: ManifestKeys) -> Manifest? {
    guard let written = writtenManifest, written.keys.manifest === keys.manifest,
      written.manifest.generation == UInt64(generation)
    else { return nil }
    return written.manifest
  }

  /// Has the file looked at again before anything is believed.
  mutating func doubt() { currency = .unknown }

  /// Has all that is here compared with the file that is in the place of this one.
  mutating func suspect() {
    doubt()
    isSuspect = true
    writtenManifest = nil
  }

  /// Takes over a header.
  mutating func adopt(header: [UInt8]?) {
    guard header != self.header else { return }
    self.header = header
    store = header.flatMap { SeenCommits.Store(header: $0) }
    headerVersion += 1
  }

  mutating func adopt(_ keys: ManifestKeys, headerVersion: UInt64) {
    // Another storage of the same vault may be late.
    if let manifestKeys, manifestKeys.headerVersion > headerVersion { return }
    // Whether the file is one that went back was asked without the manifest until now.
    if manifestKeys?.headerVersion != headerVersion { doubt() }
    manifestKeys = (keys, headerVersion)
  }

  /// Forgets a file that is no longer there.
  mutating func reset() {
    writtenManifest = nil
    dropAll()
    adopt(header: nil)
    follow(0, horizon: 0, .unknown)
  }
}
