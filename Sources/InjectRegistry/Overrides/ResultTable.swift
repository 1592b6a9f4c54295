/// The results of reads inside overrides.
///
/// A hash table with open addressing: with a `Dictionary`, such a read took one and a half times as
/// long.
struct ResultTable {
  private struct Entry {
    var node: ObjectIdentifier
    var version: Int
    var result: CachedResult
  }

  private var entries = [Entry?](repeating: nil, count: 8)
  private var count = 0

  /// The index of a node, or of its free place.
  private func place(of node: ObjectIdentifier) -> Int {
    let mask = UInt(entries.count - 1)
    var place = NodeTable.start(UInt(bitPattern: node), mask)
    while let entry = entries[Int(place)], entry.node != node { place = (place + 1) & mask }
    return Int(place)
  }

  /// The result, if it was found in this version.
  func result(for node: ObjectIdentifier, _ version: Int) -> CachedResult? {
    guard let entry = entries[place(of: node)], entry.version == version else { return nil }
    return entry.result
  }

  /// Keeps a result.
  ///
  /// - Returns: the previous result, to be released outside the lock.
  mutating func keep(_ result: CachedResult, for node: ObjectIdentifier, _ version: Int)
    -> CachedResult?
  {
    if 2 * count >= entries.count { grow() }
    let place = place(of: node)
    let old = entries[place]?.result
    if old == nil { count += 1 }
    entries[place] = Entry(node: node, version: version, result: result)
    return old
  }

  private mutating func grow() {
    let old = entries
    entries = [Entry?](repeating: nil, count: 2 * old.count)
    for case let entry? in old { entries[place(of: entry.node)] = entry }
  }
}
