internal import CryptoCore
internal import StorageCore

extension VaultEngine {
  /// All records of one moment, found by the index of names.
  func allRecords(waiting deadline: Duration) throws(StorageError) -> AllRecords {
    for _ in 0..<1000 {
      guard let opened = try follow(waiting: deadline) else {
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
    throw StorageError(.busy, "other writers kept changing the vault; try again", path: file.path)
  }
}
