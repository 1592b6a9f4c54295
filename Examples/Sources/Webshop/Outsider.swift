import Foundation

/// Another program that can read the file but has no key.
struct Outsider {
  let file: String

  /// Prints what the file shows, and searches it for every name and every value of 8 bytes or more.
  func look(forAllOf settings: DotEnv) throws {
    let bytes = try Data(contentsOf: URL(fileURLWithPath: file))
    let contents = try PropertyListSerialization.propertyList(from: bytes, format: nil)
    guard let entries = contents as? [String: Data] else {
      throw DotEnvError("the file is not a dictionary of data")
    }
    print(
      "\(file.split(separator: "/").last ?? ""): \(bytes.count) bytes, \(entries.count) entries, for example"
    )
    for (key, value) in entries.sorted(by: { $0.key < $1.key }).prefix(3) {
      print(
        "  \(key.prefix(24))... = \(Self.hexadecimal(value.prefix(24)))... (\(value.count) bytes)")
    }
    let names = settings.entries.map(\.0)
    // Shorter values occur by chance: "8443" is in one of fifteen such files, among the digits of
    // the names' hashes.
    let values = settings.entries.map(\.1).filter { $0.utf8.count >= 8 }
    let found = (names + values).count { bytes.range(of: Data($0.utf8)) != nil }
    print(
      "searched for \(names.count) names and the \(values.count) values of 8 bytes and more: "
        + "\(found) found")
    if found > 0 { exit(3) }
  }

  /// Flips one bit in the first sealed value.
  func flipOneBit() throws {
    let url = URL(fileURLWithPath: file)
    var bytes = try Data(contentsOf: url)
    let contents = try PropertyListSerialization.propertyList(from: bytes, format: nil)
    guard let entries = contents as? [String: Data],
      let record = entries.filter({ $0.key.count == 128 }).min(by: { $0.key < $1.key })?.value,
      let place = bytes.range(of: record)
    else { throw DotEnvError("the file holds no sealed value") }
    bytes[place.upperBound - 1] ^= 1
    try bytes.write(to: url)
    print("flipped one bit of a value, at byte \(place.upperBound - 1) of the file")
  }

  private static func hexadecimal(_ bytes: Data) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }
}
