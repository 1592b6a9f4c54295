import CryptoCore
import Foundation
import StorageCore

extension Target {
  /// A sealed record: nobody without the key makes one that opens to something else.
  static let record = Target(
    name: "record",
    seeds: {
      let text = Array(Sample.text.utf8)
      return try Records.keys().map { try unsafe $0.seal(text.span.bytes, for: Records.context) }
    },
    make: {
      let keys = try Records.keys()
      return { input in
        let record = unsafe input.span.bytes
        do {
          _ = try RecordHeader(reading: record)
        } catch let error as CryptoError where error.code.isOfBytes {}
        for key in keys {
          do {
            let opened = try key.openedData(record, for: Records.context)
            guard opened == Data(Sample.text.utf8) else { finding("a forged record opened") }
          } catch let error as CryptoError where error.code.isOfBytes {}
        }
      }
    })

  /// A header as a whole: who writes it has no key.
  static let header = Target(
    name: "header",
    seeds: {
      try Records.sources.map { source in
        let delegate = RawDelegate()
        let storage = DelegatedStorage(delegate, keySource: source)
        try storage.save(Sample.text, forKey: "k")
        try storage.keyAdministration.add(.key(Sample.root))
        return delegate.bytes ?? []
      }
    },
    make: {
      { input in
        let delegate = RawDelegate()
        delegate.bytes = input
        let storage = DelegatedStorage(delegate, keySource: .key(Sample.key))
        _ = try taking { try storage.keyAdministration.slots() }
        let isRead = try taking { try storage.load(String.self, forKey: "k") } != nil
        let isWritten = try taking { try storage.save(Sample.text, forKey: "k") } != nil
        if isWritten != isRead { finding("a write and a read don't agree about a header") }
        if !isRead, delegate.bytes != input { finding("a header that was refused was replaced") }
      }
    })

  /// The inside of a header: who writes it has the root key, as a later release does.
  static let keyset = Target(
    name: "keyset",
    seeds: { [Records.keyset(count: 1), Records.keyset(count: 3)] },
    make: {
      { input in
        let delegate = RawDelegate()
        delegate.bytes = try Records.header(around: input)
        let storage = DelegatedStorage(delegate, keySource: .key(Sample.key))
        guard try taking({ try storage.load(String.self, forKey: "k") }) != nil else { return }
        // The number of data keys is at its limit, or so is the number of the next.
        _ = try taking(also: [.full]) {
          try storage.save(Sample.text, forKey: "k")
          guard try storage.load(String.self, forKey: "k") == Sample.text else {
            finding("a value was not read back")
          }
        }
      }
    })
}

extension CryptoError.Code {
  /// What bytes of any kind may lead to.
  fileprivate var isOfBytes: Bool {
    [.malformed, .unsupported, .authenticationFailed].contains(self)
  }
}

private enum Records {
  static let context = RecordContext(store: Sample.store, name: Sample.noName)
  static let sources: [KeySource] = [
    .key(Sample.key), .passphrase("a passphrase", derivation: .scrypt(cost: 16)),
    .passphrase("a passphrase", derivation: .pbkdf2SHA256(rounds: 1)),
  ]

  static func keys() throws -> [DataKey] {
    try [AEADAlgorithm.aes256GCM, .chaCha20Poly1305, .xaes256GCM].map {
      try DataKey(Sample.key, id: 1, algorithm: $0)
    }
  }

  /// A keyset, as docs/file-format.md lays it out.
  static func keyset(count: UInt16) -> [UInt8] {
    var bytes: [UInt8] = [1]
    bytes += Sample.bigEndian(UInt32(count)) + Sample.bigEndian(UInt32(count) + 1)
    bytes += Sample.bigEndian(count) + [UInt8](repeating: 3, count: 32)
    for id in 1...UInt32(count) {
      bytes += Sample.bigEndian(id) + [UInt8(1 + id % 3)] + Sample.bigEndian(UInt64(1024))
      bytes += [UInt8](repeating: UInt8(id), count: 32)
    }
    return bytes
  }

  /// The header that leads from the sample's key to a keyset.
  static func header(around keyset: [UInt8]) throws -> [UInt8] {
    let store = Sample.store
    let salt = [UInt8](repeating: 5, count: 32)
    let derived = try Sample.hkdf(Sample.key, salt: salt, "SPS slot key v1", count: 64)
    var slot: [UInt8] = [1] + Sample.bigEndian(UInt32(1)) + [1] + Sample.field([])
    slot += [0] + [UInt8](repeating: 0, count: 12) + salt + derived[32...]
    let wrapped = try Sample.root.withBytes { root in
      try DataKey(SymmetricKey(data: derived[..<32]), id: 1).seal(
        root,
        for: RecordContext(
          store: store, name: Sample.noName, authenticationTag: Array("slot".utf8) + slot))
    }
    slot += Sample.field(wrapped)
    let key = SymmetricKey(
      data: try Sample.hkdf(Sample.root, salt: store.bytes, "SPS keyset key v1"))
    let sealed = try unsafe DataKey(key, id: 0, algorithm: .xaes256GCM).seal(
      keyset.span.bytes,
      for: RecordContext(
        store: store, name: Sample.noName, authenticationTag: Array("keyset".utf8)))
    let check = try Sample.hkdf(Sample.root, salt: store.bytes, "SPS root check v1")
    return Array("SPSh".utf8) + [1] + store.bytes + [1] + Sample.field(slot) + check
      + Sample.field(sealed)
  }
}
