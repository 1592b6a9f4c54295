import TestSupport
import Testing

/// Asks a program whose allocator counts.
@Suite struct AllocationTests {
  @Test func aReadOfWhatWasBuiltBeforeAllocatesNothing() throws {
    var counts: [String: Int] = [:]
    for line in try HelperProgram("InjectTestChild").run() {
      let words = line.split(separator: " ")
      counts[words.dropLast().joined(separator: " ")] = words.last.flatMap { Int($0) }
    }
    // That it counts is seen by what has to allocate.
    #expect(counts.removeValue(forKey: "a new instance") == 1_000)
    #expect(counts.count == 25)
    #expect(counts.allSatisfy { $0.value == 0 }, "\(counts.filter { $0.value != 0 })")
  }
}
