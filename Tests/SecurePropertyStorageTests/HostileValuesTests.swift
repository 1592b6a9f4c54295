import CryptoCore
import DefaultsBackend
import Foundation
import StorageCore
import StorageTesting
import Testing
import VaultBackend

/// Values of every storable type, moved between stores and back, and restored from a backup.
@Suite struct HostileValuesTests {
  /// A value under a name, and whether a storage still has it, to the bit.
  private struct Sample {
    let save: (any Storage, StoreKey) throws -> Void
    let isIn: (any Storage, StoreKey) throws -> Bool

    init<Value: StorableValue>(_ value: Value) {
      save = { try $0.save(Optional(value), forKey: $1) }
      isIn = { storage, name in
        try storage.load(AnyStorableValue.self, forKey: name) == AnyStorableValue(value)
          && storage.load(Value.self, forKey: name) != nil
      }
    }

    init<Value: Codable & Equatable>(_ value: Value, _ coding: CodableCoding) {
      save = { try $0.save(encodable: Optional(value), forKey: $1, coding: coding) }
      isIn = { try $0.load(decodable: Value.self, forKey: $1, coding: coding) == value }
    }

    init(archived value: NSArray) {
      save = { try $0.save(Optional(value), forKey: $1) }
      isIn = { try $0.load(NSArray.self, forKey: $1) == value }
    }
  }

  private struct Account: Codable, Equatable {
    var amount = Decimal(string: "99999999999999999.99")
    var large = Int128.min
    var larger = UInt128.max
    var date = Date(timeIntervalSince1970: 1_795_496_700.123)
    var names = ["e\u{301}": ["\u{0}\n"]]
  }
  private enum Color: String, Codable { case red }
  private enum Level: UInt8 { case high }

  private static let reversed = CodableCoding.custom(
    "reversed", encode: { Data(try JSONEncoder().encode($0).reversed()) },
    decode: { try JSONDecoder().decode($0, from: Data($1.reversed())) })

  private static func samples() throws -> [Sample] {
    let any: [AnyStorableValue] = try [
      .init(1), .init(Int?.none), .init([Int??.some(nil)]), .init([AnyStorableValue]()),
      .init(["a": try AnyStorableValue(Double.signalingNaN)]),
    ]
    let dates = [
      Date.distantPast, .distantFuture, Date(timeIntervalSinceReferenceDate: -0.0),
      Date(timeIntervalSince1970: -62_135_596_799.999), Date(timeIntervalSince1970: 0.123),
      Date(timeIntervalSince1970: 253_402_300_799.999), Date(timeIntervalSinceReferenceDate: .nan),
      Date(timeIntervalSinceReferenceDate: .infinity),
    ]
    let doubles: [Double] = [
      0, -0.0, 0.1, 1e300, .leastNonzeroMagnitude, .infinity, -.infinity, .nan, -.nan,
      .signalingNaN,
      Double(nan: 5, signaling: true), .greatestFiniteMagnitude,
    ]
    let decimals = ["0", "-0.1", "99999999999999999.99", "1e127", "-1e-128"]
      .compactMap { Decimal(string: $0) }
    let texts = [
      "", " ", "x\n", "\u{0}", "null", "é", "e\u{301}", "\u{FEFF}x",
      String(repeating: "0123456789abcdef", count: 1 << 16),
    ]
    var scalars: [Sample] = dates.map { Sample($0) }
    scalars += doubles.map { Sample($0) }
    scalars += decimals.map { Sample($0) }
    scalars += texts.map { Sample($0) }
    scalars += [Sample(Decimal.nan), Sample(Float.nan), Sample(-0.0 as Float)]
    let integers: [Sample] = [
      Sample(true), Sample(Int.min), Sample(Int8.min), Sample(Int16.min), Sample(Int32.min),
      Sample(Int64.min), Sample(UInt.max), Sample(UInt8.max), Sample(UInt16.max),
      Sample(UInt32.max), Sample(UInt64.max),
    ]
    let numbers: [Int??] = [.none, .some(nil), 5]
    let flags: [Bool: Set<Double>] = [true: [1.5]]
    let bytes: [UInt8] = [0, 255]
    let others: [Sample] = [
      Sample(Data()), Sample(Data(0...255)), Sample(UUID()), Sample(URL(fileURLWithPath: "/é")),
      Sample(Int?.none), Sample(Int??.some(nil)), Sample(numbers),
      Sample([Int]()), Sample(Set<String>()), Sample(bytes), Sample([Int: String]()),
      Sample(doubles), Sample(["e\u{301}": ["": Data()]]), Sample(flags),
      Sample(any), Sample(Set(any)), Sample(["$type": any[0]]),
    ]
    let encoded: [Sample] = [
      Sample(Account(), .json), Sample(Account(), Self.reversed), Sample("text", .json),
      Sample("text", .propertyList), Sample([1.0: dates[4]], .propertyList),
      Sample(Color.red, .json), Sample(Color.red, .propertyList),
      Sample(archived: ["archived", 1]),
    ]
    return scalars + integers + others + encoded
  }

  /// The samples under names of which two differ only in the encoding of é.
  private static func named() throws -> [(name: StoreKey, sample: Sample)] {
    try samples().enumerated().map { index, sample in
      (index == 0 ? "é" : index == 1 ? "e\u{301}" : "name \(index)", sample)
    }
  }

  private static func expect(
    _ samples: [(name: StoreKey, sample: Sample)], in storage: some Storage, _ place: String
  ) throws {
    #expect(try Set(storage.keys().map { Array($0.utf8) }).count == samples.count, "\(place)")
    for (name, sample) in samples {
      #expect(try sample.isIn(storage, name), "\(place): \(name)")
    }
  }

  @Test func noneChangesOnItsWayBetweenStoresAndBack() throws {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("sps.hostile.\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(at: folder) }
    let vault = VaultStorage(
      at: folder.appendingPathComponent("v.vault"), keySource: .key(SymmetricKey(size: .bits256)))
    let suite = UserDefaultsStorage(
      DefaultsDelegate(folder: folder.path, suiteName: "suite"),
      keySource: .key(SymmetricKey(size: .bits256)))
    let memory = InMemoryStorage()
    let samples = try Self.named()
    for (name, sample) in samples { try sample.save(vault, name) }
    try Self.expect(samples, in: vault, "vault")

    try SecureStorage.migrate(from: vault, to: suite)
    try Self.expect(samples, in: suite, "suite")
    try SecureStorage.migrate(from: suite, to: memory)
    try Self.expect(samples, in: memory, "memory")
    try SecureStorage.migrate(from: memory, to: vault)
    try Self.expect(samples, in: vault, "vault again")

    let backup = folder.appendingPathComponent("backup.vault")
    try vault.backup(to: backup)
    try vault.removeAll()
    try vault.restore(from: backup)
    try Self.expect(samples, in: vault, "restored vault")
  }
}
