internal import CryptoCore
internal import StorageCore

extension VaultEngine {
  /// How often a read is tried while other processes write.
  private static let attempts = 1000

  // MARK: - From memory

  /// The record of a name and the version of its header, if memory has them and they are current.
  @inline(__always)
  func known(_ name: NameHash) -> (record: [UInt8]?, headerVersion: UInt64)? {
    guard gate.mayBeCurrent else { return nil }
    return memory.read { memory in
      guard memory.isCurrent(nil), let record = memory.record(for: name) else { return nil }
      return (record, memory.headerVersion)
    }
  }

  /// Copies the record of a name, as ``known(_:)`` finds it, without counting a reference to it.
  @inline(__always)
  func copy(_ name: NameHash, into buffer: UnsafeMutableRawBufferPointer) -> RecordCopy? {
    guard gate.mayBeCurrent else { return nil }
    return memory.read { memory in unsafe memory.copy(name, into: buffer) }
  }

  // MARK: - From memory or the file

  /// The record of a name, and the version of its header.
  func lookup(
    _ name: NameHash, waiting deadline: Duration
  ) throws(StorageError) -> (record: [UInt8]?, headerVersion: UInt64) {
    try gate.requireSameProcess()
    if gate.isReplaced() { return try load(name, waiting: deadline) }
    let stamp = try gate.stamp()
    let known: (record: [UInt8]?, headerVersion: UInt64)? = memory.read { memory in
      guard memory.isCurrent(stamp), let record = memory.record(for: name) else { return nil }
      return (record, memory.headerVersion)
    }
    if let known { return known }
    return try load(name, waiting: deadline)
  }

  /// Reads a record from the file.
  @inline(never)
  private func load(
    _ name: NameHash, waiting deadline: Duration
  ) throws(StorageError) -> (record: [UInt8]?, headerVersion: UInt64) {
    for _ in 0..<Self.attempts {
      guard let opened = try follower.follow(waiting: deadline) else {
        return (nil, memory.withLock { $0.headerVersion })
      }
      let (known, generation, version) = memory.withLock {
        ($0.record(for: name), $0.generation, $0.headerVersion)
      }
      if let known { return (known, version) }
      let kept = try opened.withReader(waiting: deadline) { (reader) throws(StorageError) in
        try VaultRows.kept(name, reader)
      }
      let stamp = try gate.stamp()
      // Nobody has written since memory was brought up to date, so the row belongs to that state.
      let current: UInt64? = memory.withLock { memory in
        guard memory.generation == generation, memory.isCurrent(stamp) else { return nil }
        memory.keep(kept, for: name)
        return memory.headerVersion
      }
      if let current { return (kept.record, current) }
    }
    throw keptChanging()
  }

  /// The header and its version.
  func header(waiting deadline: Duration) throws(StorageError) -> ([UInt8]?, UInt64) {
    try gate.requireSameProcess()
    let stamp = try gate.stamp()
    let isReplaced = gate.isReplaced()
    let known: ([UInt8]?, UInt64)? = memory.withLock { memory in
      !isReplaced && memory.isCurrent(stamp) ? (memory.header, memory.headerVersion) : nil
    }
    if let known { return known }
    _ = try follower.follow(waiting: deadline)
    return memory.withLock { ($0.header, $0.headerVersion) }
  }

  // MARK: - From the file

  /// The names of all records.
  func names(waiting deadline: Duration) throws(StorageError) -> [NameHash] {
    guard let opened = try follower.follow(waiting: deadline) else { return [] }
    return try opened.withReader(waiting: deadline) { (reader) throws(StorageError) in
      try VaultRows.names(reader)
    }
  }

  /// All records of one moment, found by the index of names.
  func allRecords(waiting deadline: Duration) throws(StorageError) -> AllRecords {
    for _ in 0..<Self.attempts {
      guard let opened = try follower.follow(waiting: deadline) else {
        return AllRecords(records: [:], headerVersion: memory.withLock { $0.headerVersion })
      }
      let found = try opened.withReader(waiting: deadline) {
        (reader) throws(StorageError) -> AllRecords? in
        try reader.reading { () throws(StorageError) -> AllRecords? in
          let header = try VaultRows.header(reader)
          // Memory may have followed a later header by now, or not yet followed this one.
          let version = memory.withLock { $0.header == header ? $0.headerVersion : nil }
          guard let version else { return nil }
          var records: [NameHash: [UInt8]] = [:]
          for bucket in 0..<Manifest.bucketCount {
            try VaultRows.visit(bucket: bucket, reader) { (_, name, record) in
              if let record { records[name] = record }
            }
          }
          return AllRecords(records: records, headerVersion: version)
        }
      }
      if let found { return found }
    }
    throw keptChanging()
  }

  private func keptChanging() -> StorageError {
    StorageError(.busy, "other writers kept changing the vault; try again", path: file.path)
  }
}
