import CryptoCore
import Foundation
import StorageCore
import StorageTesting
import TestSupport
import Testing
import VaultBackend

@testable import securestore

/// Whatever `get` writes, `set` reads as the same value; files, backups and moves change nothing.
struct RoundTripTests {
  private struct Account: Codable, Equatable {
    var amount = Decimal(string: "99999999999999999.99")
    var small = Decimal(string: "-0.00000000000000000000000000000000000001")
    var large = Int128.min
    var larger = UInt128.max
    var rates = [1e300, -0.0, Double.leastNonzeroMagnitude, 0.1]
    var date = Date(timeIntervalSinceReferenceDate: 817_189_499.9999999)
    var names = ["e\u{301}": ["\u{0}\n\u{2028}\u{202E}\"\\/"], "$type": ["x"], "$value": []]
    var none: Int?
    var empty: [String: [Int]] = [:]
  }
  private struct Record: Codable, Equatable {
    var date = Date(timeIntervalSinceReferenceDate: -1.0000001)
    var data = Data([0, 255])
    var numbers = [1, -0.0, 1e300, .infinity]
    var single: Float = 0.1
    var large = UInt64.max
    var small = Int8.min
    var flag = true
    var none: [Int?] = [nil, 1]
    var names = ["$type": "x", "$value": "y"]
  }

  private static let dates: [Date] = [
    .distantPast, .distantFuture, Date(timeIntervalSinceReferenceDate: -0.0),
    Date(timeIntervalSince1970: 1_795_496_700.123), Date(timeIntervalSinceReferenceDate: 1e300),
    Date(timeIntervalSince1970: -62_135_596_799.999), Date(timeIntervalSinceReferenceDate: .nan),
    Date(timeIntervalSinceReferenceDate: -.infinity),
  ]
  private static let doubles: [Double] = [
    0, -0.0, 1, 0.1, 1e300, .leastNonzeroMagnitude, .infinity, -.infinity, .nan, -.nan,
    .signalingNaN, Double(nan: 5, signaling: false), Double(nan: 5, signaling: true),
    Double(bitPattern: 0xFFF0_0000_0000_0001), .greatestFiniteMagnitude,
  ]
  private static let floats: [Float] = [
    .nan, -0.0, .infinity, 0.1, .leastNonzeroMagnitude, Float(bitPattern: 0x7F80_0001),
  ]
  private static let decimals: [Decimal] = [
    "0", "-0.1", "99999999999999999.99", "340282366920938463463374607431768211455", "1e127",
    "-1e-128", "0.12345678901234567890123456789012345678",
  ].compactMap { Decimal(string: $0) }
  private static let texts: [String] = [
    "", " ", "x\n", "\r\n", "\u{0}", "null", "\"x\"", "[1]", "é", "e\u{301}", "\u{FEFF}x",
    "\u{202E}\u{7F}\u{9B}",
  ]

  private static func scalars() -> [Sample] {
    var samples: [Sample] = dates.map { Sample($0) }
    samples += doubles.map { Sample($0) }
    samples += floats.map { Sample($0) }
    samples += decimals.map { Sample($0) }
    samples += texts.map { Sample($0) }
    samples.append(Sample(String(repeating: "0123456789abcdef", count: 1 << 16)))
    samples.append(Sample(Decimal.nan))
    samples += [
      Sample(true), Sample(Int.min), Sample(Int8.min), Sample(Int16.max), Sample(Int32.min),
      Sample(Int64.max), Sample(UInt.max), Sample(UInt8.max), Sample(UInt16.max),
      Sample(UInt32.max), Sample(UInt64.max), Sample(Data()), Sample(Data((0...255) + [10])),
      Sample(URL(fileURLWithPath: "/é")), Sample(UUID()),
    ]
    return samples
  }

  private static func optionals() -> [Sample] {
    let lists: [[Int]?] = [nil, [], [1]]
    let deep: [[Int?]??] = [.some(.some([nil])), .some(nil), nil]
    let numbers: [Int??] = [.none, .some(nil), 5]
    let none: [String: Bool?] = ["a": nil]
    return texts.map { Sample(Optional($0)) } + [
      Sample(Int?.none), Sample(Int??.none), Sample(Int??.some(nil)), Sample(Int??.some(5)),
      Sample(numbers), Sample(lists), Sample(deep), Sample(Optional(Data([0, 10]))),
      Sample(Optional(dates[3])), Sample(Optional(Double.nan)), Sample(none),
      Sample(Optional(URL(fileURLWithPath: "/x"))),
    ]
  }

  private static func collections() -> [Sample] {
    let flags: [Bool: Set<Double>] = [true: [1.5, -1.5]]
    let deep: [[Int: [String: [Float]]]] = [[1: ["x": [0.1]]]]
    let some: Set<Int?> = [nil, 1]
    let bytes: [UInt8] = [0, 255]
    return [
      Sample([Int]()), Sample(bytes), Sample(Set<String>()), Sample([Int: String]()),
      Sample([String: Int]()), Sample([[Data]]()), Sample(doubles), Sample(dates),
      Sample(decimals), Sample(texts), Sample(Set(texts)), Sample(["e\u{301}": ["": Data()]]),
      Sample(flags), Sample(["$type": "Int", "$value": "1"]), Sample([UUID(): Date.distantPast]),
      Sample(some), Sample(deep),
    ]
  }

  private static func anything() throws -> [Sample] {
    let named: [String: AnyStorableValue] = [
      "$type": try .init("Int"), "$value": try .init(1),
    ]
    let plain: [String: AnyStorableValue] = ["a": try .init(Decimal(1))]
    let deep: [AnyStorableValue] = [try .init("deep")]
    let any: [AnyStorableValue] = try [
      .init(1), .init("x"), .init(true), .init(UInt8(1)), .init(Int?.none), .init([1, nil]),
      .init(Data([1])), .init(1.0), .init(Double.nan), .init(Date.distantPast),
      .init([String]()), .init([AnyStorableValue]()), .init(deep), .init(named), .init(plain),
    ]
    var pairs: [String: AnyStorableValue] = [:]
    for (index, value) in any.enumerated() { pairs["\(index)"] = value }
    return [Sample(any), Sample([AnyStorableValue]()), Sample(Set(any)), Sample(pairs)]
  }

  private static func encoded() -> [Sample] {
    let names = ["$type": "JSON", "$value": "x"]
    return [
      Sample(codable: Account()), Sample(codable: [Account()]), Sample(codable: "text"),
      Sample(codable: 5), Sample(codable: [Int]()), Sample(codable: [String: Int]()),
      Sample(codable: Decimal(string: "-99999999999999999.99")), Sample(codable: UInt128.max),
      Sample(codable: Int?.none), Sample(codable: names),
      Sample(codable: Record(), isJSON: false), Sample(codable: [String](), isJSON: false),
      Sample(codable: "text", isJSON: false), Sample(codable: 1, isJSON: false),
      Sample(codable: 1.0, isJSON: false), Sample(codable: Data([1]), isJSON: false),
      Sample(codable: Date.distantPast, isJSON: false), Sample(codable: names, isJSON: false),
    ]
  }

  private static func samples() throws -> [Sample] {
    try scalars() + optionals() + collections() + anything() + encoded()
  }

  // MARK: - In this process

  /// What `get` writes for one name, read as `set` reads it for another.
  private static func copy(
    _ storage: InMemoryStorage, _ name: StoreKey, to other: StoreKey, as type: String?
  ) throws {
    let value = try #require(try StoredValue(name, in: storage))
    let bytes = try SecureBytes(value.bytes)
    let kind = try type.map { try #require(ValueKind(argument: $0)) }
    try storage.transaction {
      let given = GivenValue.bytes(bytes, text: bytes)
      try $0.save(try $0.newValue(given, forKey: other, as: kind), forKey: other)
    }
  }

  /// What `export` writes for a name, read as `import` reads it for a new one.
  private static func move(
    _ storage: InMemoryStorage, _ name: StoreKey, to other: StoreKey
  ) throws {
    let value = try #require(try StoredValue(name, in: storage))
    let given = GivenValue.json(try JSONReader.value(of: value.exactJSON.text))
    try storage.delete(forKey: other)
    try storage.transaction {
      try $0.save(try $0.newValue(given, forKey: other, as: nil), forKey: other)
    }
  }

  private static func check(_ sample: Sample, _ what: String) throws {
    let storage = InMemoryStorage()
    try sample.save(storage, "one")
    // The second keeps its type, the third is given one, the fourth comes from a file.
    try sample.save(storage, "two")
    for (name, type) in [("two", nil), ("three", sample.type)] {
      // The text of a date has milliseconds.
      guard name == "two" || type != nil, sample.type?.hasPrefix("Date") != true else { continue }
      do {
        try copy(storage, "one", to: name, as: type)
        #expect(try sample.isSame(storage, "one", storage, name), "\(what): \(name)")
      } catch {
        Issue.record("\(what): \(name): \(error)")
      }
    }
    do {
      try move(storage, "one", to: "four")
      #expect(try sample.isSame(storage, "one", storage, "four"), "\(what): export and import")
    } catch {
      Issue.record("\(what): export and import: \(error)")
    }
  }

  @Test func everyValueThatIsWrittenIsReadAsTheSame() throws {
    for (index, sample) in try Self.samples().enumerated() {
      try Self.check(sample, "sample \(index), \(sample.type ?? "a property list")")
    }
  }

  @Test func anyNumberAndAnyDateIsReadAsTheSame() throws {
    for _ in 0..<Depth.count(300, day: 60) {
      let bits = UInt64.random(in: 0...UInt64.max)
      let double = Double(bitPattern: bits)
      try Self.check(Sample(double), "Double \(bits)")
      try Self.check(Sample(Float(bitPattern: UInt32(truncatingIfNeeded: bits))), "Float \(bits)")
      try Self.check(Sample(Date(timeIntervalSinceReferenceDate: double)), "Date \(bits)")
      let milliseconds = Int.random(in: -62_135_596_800_000..<253_402_300_800_000)
      let date = Date(timeIntervalSince1970: Double(milliseconds) / 1000)
      try Self.check(Sample(date), "Date, \(milliseconds) ms")
      let digits = Decimal(bits) * Decimal(UInt64.random(in: 0...UInt64.max))
      let decimal = Decimal(
        sign: bits % 2 == 0 ? .plus : .minus, exponent: .random(in: -100...80), significand: digits)
      try Self.check(Sample(decimal), "Decimal \(decimal)")
      if double.isFinite { try Self.check(Sample(codable: [decimal: [double]]), "JSON \(bits)") }
    }
  }

  // MARK: - The program

  /// The samples under names that differ in all that names may, two of them only in the encoding of
  /// é.
  private static func named() throws -> [(name: String, sample: Sample)] {
    try samples().enumerated().map { index, sample in
      let names = ["é", "e\u{301}", "a name\n", "$type", "$value"]
      return (index < names.count ? names[index] : "v\(index)", sample)
    }
  }

  private static func storage(_ tool: Tool, _ vault: String, _ key: String) -> VaultStorage {
    VaultStorage(
      at: URL(fileURLWithPath: tool.path(vault)),
      keySource: .file(URL(fileURLWithPath: tool.path(key))))
  }

  private static func compare(
    _ storage: VaultStorage, _ samples: [(name: String, sample: Sample)], _ what: String
  ) throws {
    #expect(try storage.keys().count == samples.count, "\(what)")
    for (name, sample) in samples {
      #expect(try sample.isSame(storage, name, storage, name), "\(what): \(name)")
    }
  }

  private static func expect(_ result: Tool.Result) {
    #expect(result.code == 0, "\(result.errors)")
  }

  @Test func filesBackupsAndMovesChangeNothing() throws {
    let tool = try Tool()
    let one = ["--vault", "one.vault", "--key-file", "one.key"]
    let two = ["--vault", "two.vault", "--key-file", "two.key"]
    for arguments in [one, two] { Self.expect(try tool.run(["init"] + arguments)) }
    let samples = try Self.named()
    let storage = Self.storage(tool, "one.vault", "one.key")
    for (name, sample) in samples { try sample.save(storage, name) }

    var types: Set<String?> = []
    for (name, sample) in samples
    where sample.type?.hasPrefix("Date") != true
      && (types.insert(sample.type).inserted || name.count < 3)
    {
      let got = try tool.run(["get", name] + one)
      Self.expect(got)
      Self.expect(
        try tool.run(["set", name, "--raw", "--allow-empty"] + one, input: got.output))
    }
    try Self.compare(storage, samples, "get and set")

    Self.expect(try tool.run(["export", "--to", "one.json"] + one))
    Self.expect(try tool.run(["import", "one.json"] + two))
    try Self.compare(Self.storage(tool, "two.vault", "two.key"), samples, "export and import")
    Self.expect(try tool.run(["export", "--to", "two.json"] + two))
    let files = try ["one.json", "two.json"].map {
      try String(contentsOfFile: tool.path($0), encoding: .utf8)
    }
    #expect(files[0] == files[1])

    Self.expect(try tool.run(["backup", "copy.vault"] + two))
    try Self.storage(tool, "two.vault", "two.key").removeAll()
    Self.expect(try tool.run(["restore", "copy.vault", "--yes"] + two))
    try Self.compare(Self.storage(tool, "two.vault", "two.key"), samples, "backup and restore")

    let third = ["--vault", "third.vault", "--key-file", "third.key"]
    Self.expect(try tool.run(["init"] + third))
    Self.expect(
      try tool.run(
        ["migrate", "--from-vault", "two.vault", "--from-key-file", "two.key"] + third))
    try Self.compare(Self.storage(tool, "third.vault", "third.key"), samples, "migrate")
    Self.expect(
      try tool.run(
        ["migrate", "--from-vault", "third.vault", "--from-key-file", "third.key"] + two))
    try Self.compare(Self.storage(tool, "two.vault", "two.key"), samples, "migrate back")
  }
}
