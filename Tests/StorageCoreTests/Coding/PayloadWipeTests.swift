import CryptoCore
import StorageCore
import TestSupport
import Testing

/// After a collection was stored, no memory of the process holds its encoded elements.
///
/// All of the writable memory is searched, in a process of its own, for integers as they are
/// encoded: most significant byte first, so that those of the collection itself are not found.
@Suite struct PayloadWipeTests {
  /// Numbers to store, and some of them as they are encoded.
  private struct Sample {
    let values = (0..<3000).map { _ in Int.random(in: .min ... .max) }
    private let patterns: [[UInt8]]
    private static let mask = [UInt8](repeating: 0x5A, count: 8)

    init() {
      // Not the last ones, which may be left on the stack; see `leftCopies`.
      patterns = stride(from: 0, to: 2900, by: 250).map { [values] index in
        (0..<8).map { UInt8(truncatingIfNeeded: values[index] >> (56 - 8 * $0)) ^ 0x5A }
      }
    }

    func copies(_ search: borrowing ProcessMemory.Search) -> Int {
      var count = 0
      for pattern in patterns { count += search.addresses(of: pattern, xor: Self.mask).count }
      return count
    }
  }

  /// How many copies of encoded elements there are after `body` has had them.
  private static func copies(_ body: ([Int]) throws -> Void) rethrows -> Int {
    // Once before, so that the heap has grown and is searched as a whole.
    for _ in 0..<2 { try body(Sample().values) }
    let sample = Sample()
    let search = ProcessMemory.Search()
    try body(sample.values)
    return sample.copies(search)
  }

  /// How many copies there are each time.
  ///
  /// A set's last element, which may be left on the stack, is now and then one that is looked for.
  private static func leftCopies(_ body: ([Int]) throws -> Void) rethrows -> Int {
    var count = 0
    for _ in 0..<4 {
      count = try copies(body)
      if count == 0 { break }
    }
    return count
  }

  @Test func theSearchFindsWhatAGrowingArrayLeaves() async {
    await #expect(processExitsWith: .success) {
      let copies = PayloadWipeTests.copies { values in
        var bytes: [UInt8] = []
        for value in values {
          unsafe withUnsafeBytes(of: value.bigEndian) { unsafe bytes.append(contentsOf: $0) }
        }
        Wipe.bytes(&bytes)
      }
      #expect(copies > 0)
    }
  }

  @Test func storedCollectionsLeaveNothing() async {
    await #expect(processExitsWith: .success) {
      let storage = DelegatedStorage.fresh()
      let kinds: [(String, ([Int]) throws -> Void)] = [
        ("array", { try storage.save($0, forKey: "k") }),
        ("array of arrays", { try storage.save($0.map { [$0] }, forKey: "k") }),
        ("array of optionals", { try storage.save($0.map { Int?.some($0) }, forKey: "k") }),
        ("set", { try storage.save(Set($0), forKey: "k") }),
        ("keys", { try storage.save(PayloadWipeTests.pairs($0) { ($0, 1) }, forKey: "k") }),
        ("values", { try storage.save(PayloadWipeTests.pairs($0) { ("\($0)", $0) }, forKey: "k") }),
        ("array of anything", { try storage.save($0.map { $0 as Any }, forKey: "k") }),
        ("set of anything", { try storage.save(Set<AnyHashable>($0), forKey: "k") }),
        (
          "dictionary of anything",
          { try storage.save(PayloadWipeTests.pairs($0) { ("\($0)", $0 as Any) }, forKey: "k") }
        ),
        ("update", { values in try storage.update([Int].self, forKey: "u") { $0 = values } }),
        (
          "defaults",
          { values in
            try storage.delete(forKey: "d")
            storage.register(defaults: ["d": values])
          }
        ),
        (
          "a set that is read",
          { values in
            try storage.save(Set(values), forKey: "k")
            #expect(try storage.load(forKey: "k") == Set(values))
          }
        ),
      ]
      for (kind, save) in kinds {
        let copies = try PayloadWipeTests.leftCopies(save)
        #expect(copies == 0, "\(kind)")
      }
    }
  }

  private static func pairs<Key: Hashable, Value>(
    _ values: [Int], _ pair: (Int) -> (Key, Value)
  ) -> [Key: Value] {
    Dictionary(uniqueKeysWithValues: values.map(pair))
  }
}
