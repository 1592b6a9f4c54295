internal import CryptoCore
internal import StorageCore

/// A process's memory of a vault.
///
/// Readers hold its lock while they copy one record, and do no I/O.
struct VaultMemory: ~Copyable {
  /// The condition under which `records` equal the file's content.
  enum Currency {
    /// Unknown: the file must be looked at.
    case unknown
    /// The log's index in shared memory is unchanged.
    case live(WriteAheadIndex, WriteAheadIndex.State)
    /// The files' stamp is unchanged; for places that this process can't write to.
    case stamped(VaultFile.Stamp)
  }

  /// What a write transaction begins with.
  struct WriteBase {
    let isCurrent: Bool
    let generation: Int64
    let headerVersion: UInt64
    let keys: ManifestKeys?
    let isManifestOurs: Bool
  }

  /// How many names without a record are remembered.
  private static let absentLimit = 10_000
  /// The longest record that is kept.
  private static let recordLimit = 1 << 20

  private var currency = Currency.unknown
  /// The known names; an entry without a record means that the name has none.
  private(set) var records = RecordTable<NameKey, KeptRecord>()
  /// Names whose record was too long to be kept.
  private(set) var unkept: Set<NameKey> = []
  private var absentCount = 0

  private(set) var header: [UInt8]?
  /// Changes whenever the header does.
  private(set) var headerVersion: UInt64 = 1
  /// The sequence number of the last known commit; 0 if none is known.
  private(set) var generation: Int64 = 0
  /// Up to this number, the file may have forgotten tombstones that memory still has.
  private(set) var horizon: Int64 = 0
  /// The store of the header; nil when there is none.
  private(set) var store: SeenCommits.Store?
  /// Whether the file, or its absence, was looked at before.
  private(set) var hasFollowed = false
  /// Whether the file was replaced, so that memory may belong to another file.
  private(set) var isSuspect = false
  /// The identity of the open file, if its index is used.
  var place: FileStatus.Identity?
  /// Whether the file has the manifest that this process wrote last.
  private(set) var isManifestOurs = false
  /// The manifest's keys, with the version of their header.
  private var manifestKeys: (keys: ManifestKeys, headerVersion: UInt64)?

  /// Whether memory equals the file's content; `stamp` is the present state of the files, if it was
  /// asked for.
  @inline(__always)
  func isCurrent(_ stamp: VaultFile.Stamp?) -> Bool {
    switch currency {
    case .live(let index, let state): index.isStill(state)
    case .stamped(let expected): stamp == expected
    case .unknown: false
    }
  }

  /// The record of a name: nil when the name is not known here.
  @inline(__always)
  func record(for name: NameHash) -> [UInt8]?? { records[NameKey(name)].map { $0.record } }

  /// Copies the record of a name, if it is known, current and fits into the buffer.
  ///
  /// Counts no reference, since readers on all cores do this at once.
  @inline(__always)
  func copy(_ name: NameHash, into buffer: UnsafeMutableRawBufferPointer) -> RecordCopy? {
    guard isCurrent(nil), let kept = unsafe records.uncounted(NameKey(name)) else { return nil }
    return unsafe kept._withUnsafeGuaranteedRef { kept in
      guard let record = kept.record else { return RecordCopy(absentUnder: headerVersion) }
      return unsafe RecordCopy(of: record, into: buffer, headerVersion: headerVersion)
    }
  }

  /// What a write under a name replaces: nil when the name is not known here.
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

  /// Remembers a record that was read or written, or that a name has none.
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

  /// Forgets a name.
  mutating func drop(_ name: NameHash) {
    if let old = records.remove(NameKey(name)), old.record == nil { absentCount -= 1 }
    if !unkept.isEmpty { unkept.remove(NameKey(name)) }
  }

  /// Forgets all names.
  mutating func dropAll() {
    records.removeAll()
    unkept = []
    absentCount = 0
  }

  /// Moves on to a state of the file whose manifest was not read yet.
  mutating func follow(_ generation: Int64, horizon: Int64, _ currency: Currency) {
    self.generation = generation
    self.horizon = horizon
    // A writer may have changed the manifest without changing the sequence number.
    isManifestOurs = false
    self.currency = currency
    hasFollowed = true
    isSuspect = false
  }

  /// Notes that this process wrote the manifest of the present state.
  mutating func noteManifest() { isManifestOurs = true }

  /// What a write transaction begins with.
  var writeBase: WriteBase {
    WriteBase(
      isCurrent: isCurrent(nil), generation: generation, headerVersion: headerVersion,
      keys: currentManifestKeys, isManifestOurs: isManifestOurs)
  }

  /// Requires a new look at the file before memory is used.
  mutating func doubt() { currency = .unknown }

  /// Requires that all of memory is compared with the file that replaced the open one.
  mutating func suspect() {
    doubt()
    isSuspect = true
    isManifestOurs = false
  }

  /// Takes over a header.
  mutating func adopt(header: [UInt8]?) {
    guard header != self.header else { return }
    self.header = header
    store = header.flatMap { SeenCommits.Store(header: $0) }
    headerVersion += 1
  }

  mutating func adopt(_ keys: ManifestKeys, headerVersion: UInt64) {
    // A slower storage of the same vault may pass older keys.
    if let manifestKeys, manifestKeys.headerVersion > headerVersion { return }
    // Until now, the check whether the file went back was made without the manifest.
    if manifestKeys?.headerVersion != headerVersion { doubt() }
    manifestKeys = (keys, headerVersion)
  }

  /// Forgets a file that no longer exists.
  mutating func reset() {
    dropAll()
    adopt(header: nil)
    follow(0, horizon: 0, .unknown)
  }
}
