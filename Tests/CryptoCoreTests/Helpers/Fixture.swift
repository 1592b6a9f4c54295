import TestSupport

@testable import CryptoCore

extension AEADAlgorithm {
  static let all: [AEADAlgorithm] = [.aes256GCM, .chaCha20Poly1305, .xaes256GCM]
}

/// A key and a context to seal under, of its own for each test.
struct Fixture {
  static let name = "token"

  let key: DataKey
  let context: RecordContext
  let store: StoreID
  let names: KeyedHash

  init(_ algorithm: AEADAlgorithm = .aes256GCM, id: UInt32 = 7) throws {
    key = try DataKey(.random(), id: id, algorithm: algorithm)
    store = try StoreID.random()
    names = try KeyedHash(.random())
    context = RecordContext(store: store, name: try names.hash(name: Self.name))
  }

  /// The context of another name, store or tag.
  func context(
    name: String = Self.name, store: StoreID? = nil, tag: [UInt8] = []
  ) throws -> RecordContext {
    RecordContext(
      store: store ?? self.store, name: try names.hash(name: name), authenticationTag: tag)
  }
}

/// Public random bytes.
func randomBytes(_ count: Int) throws -> [UInt8] {
  try SecureRandom.publicBytes(count: count)
}
