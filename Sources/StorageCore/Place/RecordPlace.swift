public import CryptoCore

/// A place that stores sealed records and the header of their store; what a backend implements.
///
/// The header is a few hundred bytes that hold the key slots and the sealed keyset, see
/// docs/file-format.md. StorageCore writes it; the place stores it beside the records and commits
/// records against it. In return the store has all of the key handling: slots, key sources,
/// rotation, recovery. Besides the promises of ``StorageDelegate``, a place promises:
/// - A record is written only in one atomic step with a check of the header's version.
/// - One process or thread at a time changes the header.
/// - Every change is reported, see ``ObservableDelegate``.
///
/// The guide <doc:WritingADelegate> has a complete example. A place that also keeps a manifest is a
/// `ManifestPlace`.
public protocol RecordPlace: ObservableDelegate {
  // MARK: The header

  /// The header and its version; nil for the header when there is none.
  ///
  /// The version is a number of this process. It changes with the header, no matter who changes
  /// that.
  ///
  /// - Throws: `StorageError` when the place can't tell.
  func header() throws(StorageError) -> (header: [UInt8]?, version: UInt64)

  /// Lets `body` change the header, while no other process or thread does.
  ///
  /// The header that `body` leaves is durable when this returns; an unchanged one costs no write.
  ///
  /// - Parameter body: gets the header and the records, and changes the header. It must not call
  ///   the place.
  /// - Returns: the version of the header as `body` left it.
  /// - Throws: `StorageError`, or what `body` throws; the header is then unchanged.
  func updateHeader(
    _ body: (inout [UInt8]?, _ records: HeldRecords) throws(StorageError) -> Void
  ) throws(StorageError) -> UInt64

  // MARK: Records

  /// The record under `name`, and the version of the header that was current when it was read.
  ///
  /// - Throws: `StorageError` when the place can't tell.
  func lookup(_ name: NameHash) throws(StorageError) -> (record: [UInt8]?, headerVersion: UInt64)

  /// Makes all of `writes` or none, in one atomic and durable step, if the header still has the
  /// given version.
  ///
  /// The check of the header is part of the same step, so that no record is sealed under a key
  /// that another process has just retired. All conditions are about the records before the
  /// commit, and no two writes have the same name. A check (``RecordWrite/isCheck``) changes
  /// nothing.
  ///
  /// - Throws: `StorageError`; nothing is then changed, except with the code `outcomeUnknown`.
  func commit(
    _ writes: [RecordWrite], headerVersion: UInt64
  ) throws(StorageError) -> CommitOutcome

  /// The same for one write. By default it calls the commit of many.
  ///
  /// - Throws: as ``commit(_:headerVersion:)``.
  func commit(
    _ write: RecordWrite, headerVersion: UInt64
  ) throws(StorageError) -> CommitOutcome

  /// Removes the header and all records, whatever they contain; needs no key.
  ///
  /// Afterwards the place is as if no store had ever been there. Nothing else is removed. A process
  /// that is killed in between leaves the old store, perhaps with fewer records, or an empty place.
  /// By default it removes the records by `commit(_:headerVersion:)` and then the header. A place
  /// whose own form can be damaged, such as a file, has to do it another way.
  ///
  /// - Throws: `StorageError`: `readOnly` when the program may not write here, or why something is
  ///   left.
  func discard() throws(StorageError)

  /// How many writes one commit can take; checks (``RecordWrite/isCheck``) don't count.
  ///
  /// By default there is no limit. With 1, the place has no transactions: a transaction over
  /// several keys is then the error `unsupported`, and calls that need no atomicity write one
  /// record after the other.
  var commitLimit: Int { get }

  /// Whether each write writes all records anyway.
  ///
  /// A rotation then seals all records again in the step that changes the header, at no extra cost;
  /// ``HeldRecords`` must support rewriting. The default is `false`.
  var writesAllRecords: Bool { get }

  /// All records at one moment, and the version of the header that was current with them.
  ///
  /// By default nil: records can only be read one after the other.
  ///
  /// - Throws: `StorageError` when the records can't be read.
  func allRecords() throws(StorageError) -> AllRecords?

  /// Copies the record under `name` into a buffer, if the record is in memory and fits.
  ///
  /// ``lookup(_:)`` returns a counted reference, and readers on many cores would wait for each
  /// other to change its count.
  ///
  /// - Returns: nil when the caller has to call `lookup`; always nil by default.
  /// - Throws: `StorageError` when the place can't tell.
  func copyRecord(
    _ name: NameHash, into buffer: UnsafeMutableRawBufferPointer
  ) throws(StorageError) -> RecordCopy?

  // MARK: The place

  /// Tells this place from others that the same key source may open, for example a suite's name.
  ///
  /// The keyset is bound to it: a store that is copied whole over another store does not open. By
  /// default it is empty, and then nothing is bound.
  ///
  /// - Throws: `StorageError` when the place can't tell.
  func place() throws(StorageError) -> String

  /// The file or folder of the store, which errors about its keys name.
  ///
  /// Nil when there is none or when it is not known; by default nil.
  var location: String? { get }

  /// What the program may do here; by default everything.
  var allowance: StoreAccess { get }

  /// From now on the place creates no missing store, and no folder or file for one.
  ///
  /// By default it does nothing: most places create nothing before a header is written.
  func makeNothing()
}

extension RecordPlace {
  /// No limit.
  public var commitLimit: Int { .max }

  /// False: a write writes its own record.
  public var writesAllRecords: Bool { false }

  /// Nil: the records are read one after the other.
  public func allRecords() throws(StorageError) -> AllRecords? { nil }

  /// Nil: the caller looks the record up.
  public func copyRecord(
    _ name: NameHash, into buffer: UnsafeMutableRawBufferPointer
  ) throws(StorageError) -> RecordCopy? { nil }

  /// Empty: nothing is bound to the place.
  public func place() throws(StorageError) -> String { "" }

  /// Nil: the place has no path.
  public var location: String? { nil }

  /// Reading and writing.
  public var allowance: StoreAccess { .readWrite }

  /// Nothing.
  public func makeNothing() {}

  /// Commits one write as a list of one.
  public func commit(
    _ write: RecordWrite, headerVersion: UInt64
  ) throws(StorageError) -> CommitOutcome {
    try commit([write], headerVersion: headerVersion)
  }
}

extension RecordPlace {
  /// Removes the records, and then the header while there is no record.
  public func discard() throws(StorageError) {
    try requireWritable()
    for _ in 0..<1000 {
      try removeRecords()
      var isEmpty = false
      _ = try updateHeader { (header, records) throws(StorageError) in
        isEmpty = records.isEmpty
        if isEmpty { header = nil }
      }
      guard !isEmpty else { return }
    }
    throw StorageError(
      .busy, "another program kept writing to the store; end it, then try again", path: location)
  }

  private func removeRecords() throws(StorageError) {
    let version = try header().version
    var rest = try names().map { RecordWrite(nil, for: $0) }[...]
    while !rest.isEmpty {
      let batch = Array(rest.prefix(commitLimit))
      guard try commit(batch, headerVersion: version) == .committed else { return }
      rest = rest.dropFirst(batch.count)
    }
  }
}

// The calls of StorageDelegate, as commits against whatever header is current.
extension RecordPlace {
  /// The record that ``lookup(_:)`` finds.
  public func record(for name: NameHash) throws(StorageError) -> [UInt8]? {
    try lookup(name).record
  }

  /// Commits the record, whatever the header.
  public func set(_ record: [UInt8], for name: NameHash) throws(StorageError) {
    _ = try commitToCurrentHeader(RecordWrite(record, for: name))
  }

  /// Commits the record if there is none, whatever the header.
  public func setIfAbsent(
    _ record: [UInt8], for name: NameHash
  ) throws(StorageError) -> Bool {
    try commitToCurrentHeader(RecordWrite(record, for: name, if: .absent))
  }

  /// Commits the removal, whatever the header.
  public func remove(_ name: NameHash) throws(StorageError) {
    _ = try commitToCurrentHeader(RecordWrite(nil, for: name))
  }

  private func commitToCurrentHeader(_ write: RecordWrite) throws(StorageError) -> Bool {
    while true {
      switch try commit(write, headerVersion: header().version) {
      case .committed: return true
      case .conditionFailed: return false
      case .headerChanged: continue
      }
    }
  }
}
