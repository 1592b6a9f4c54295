/// One kind of bytes that a hostile writer may hand to the library.
///
/// To add one: a static of this type, in a file beside this one, and its name in ``all``. A reader
/// of bytes in memory that has a writer needs only ``reader(_:longest:seeds:read:write:)``.
struct Target: Sendable {
  let name: String
  /// The longest input that is tried, in bytes: what a longer one reaches, a shorter one does too.
  var longest = 16_384
  /// Well-formed inputs to start from.
  let seeds: @Sendable () throws -> [[UInt8]]
  /// Makes what takes an input, and calls `finding(_:)` or throws when a promise does not hold.
  let make: @Sendable () throws -> (([UInt8]) throws -> Void)

  static let all = [
    record, header, keyset, payload, propertyList, manifest, vault, entry, segment, envelope,
    shared,
    catalog,
  ]

  /// A target of one reader of bytes in memory: it refuses with an error about the bytes, and what
  /// it takes has no second encoding.
  static func reader<Value>(
    _ name: String, longest: Int, seeds: @escaping @Sendable () throws -> [[UInt8]],
    read: @escaping @Sendable ([UInt8]) throws -> Value,
    write: @escaping @Sendable (Value) throws -> [UInt8]
  ) -> Target {
    Target(name: name, longest: longest, seeds: seeds) {
      { input in
        guard let value = try taking({ try read(input) }) else { return }
        guard try write(value) == input else { finding("a \(name) has a second encoding") }
      }
    }
  }
}
