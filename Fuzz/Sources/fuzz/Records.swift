import CryptoCore
import Foundation

@testable import StorageCore

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
  ///
  /// Every input is read. One in eight of those that can be read is used as well, and one in
  /// sixteen of the others.
  static let header = Target(
    name: "header", longest: 4096,
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
        let header = try taking { try StoreHeader(reading: input) }
        if let header, header.bytes != input { finding("a header has a second encoding") }
        if isPicked(input, oneIn: header == nil ? 16 : 8) { try Records.use(input) }
      }
    })

  /// The inside of a header: who writes it has the root key, as a later release does.
  ///
  /// Every input is read. One in sixteen is sealed, opened and used.
  static let keyset = Target(
    name: "keyset", longest: 4096,
    seeds: { [Records.keyset(count: 1), Records.keyset(count: 3)] },
    make: {
      let wrapped = try Records.Wrapped()
      return { input in
        if let keyset = try taking({ try unsafe Keyset(reading: input.span.bytes) }) {
          let bytes = try keyset.bytes().withBytes { $0.copied() }
          guard bytes == input else { finding("a keyset has a second encoding") }
        }
        if isPicked(input, oneIn: 16) { try Records.use(keyset: wrapped.header(around: input)) }
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
    .key(Sample.key), .passphrase("a passphrase"),
    .passphrase("a passphrase", derivation: .pbkdf2SHA256()),
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
      bytes += [UInt8](repeating: UInt8(id), count: 32) + [0]
    }
    return bytes
  }

  /// Reads and writes with a header.
  static func use(_ header: [UInt8]) throws {
    let delegate = RawDelegate()
    delegate.bytes = header
    let storage = DelegatedStorage(delegate, keySource: .key(Sample.key))
    _ = try taking { try storage.keyAdministration.slots() }
    let isRead = try taking { try storage.load(String.self, forKey: "k") } != nil
    let isWritten = try taking { try storage.save(Sample.text, forKey: "k") } != nil
    if isWritten != isRead { finding("a write and a read don't agree about a header") }
    if !isRead, delegate.bytes != header { finding("a header that was refused was replaced") }
  }

  /// Reads and writes with a header around a keyset.
  static func use(keyset header: [UInt8]) throws {
    let delegate = RawDelegate()
    delegate.bytes = header
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

  /// The header that leads from the sample's key to a keyset; all but the keyset is the same for
  /// each.
  struct Wrapped {
    private let head: [UInt8]
    private let key: DataKey

    init() throws {
      let store = Sample.store
      let check = try Sample.hkdf(Sample.root, salt: store.bytes, "SPS root check v1")
      head = try Array("SPSh".utf8) + [1] + store.bytes + [1] + Sample.field(Self.slot()) + check
      let key = try Sample.hkdf(Sample.root, salt: store.bytes, "SPS keyset key v1")
      self.key = try DataKey(SymmetricKey(data: key), id: 0, algorithm: .xaes256GCM)
    }

    private static func slot() throws -> [UInt8] {
      let salt = [UInt8](repeating: 5, count: 32)
      let derived = try Sample.hkdf(Sample.key, salt: salt, "SPS slot key v1", count: 64)
      var slot: [UInt8] = [1] + Sample.bigEndian(UInt32(1)) + [1] + Sample.field([])
      slot += [0] + [UInt8](repeating: 0, count: 12) + salt + derived[32...]
      let wrapped = try Sample.root.withBytes { root in
        try DataKey(SymmetricKey(data: derived[..<32]), id: 1).seal(
          root,
          for: RecordContext(
            store: Sample.store, name: Sample.noName,
            authenticationTag: Array("slot".utf8) + slot))
      }
      return slot + Sample.field(wrapped)
    }

    func header(around keyset: [UInt8]) throws -> [UInt8] {
      let sealed = try unsafe key.seal(
        keyset.span.bytes,
        for: RecordContext(
          store: Sample.store, name: Sample.noName, authenticationTag: Array("keyset".utf8)))
      return head + Sample.field(sealed)
    }
  }
}
