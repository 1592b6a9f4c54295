private import Foundation
private import Glibc

/// A mapping of this process, as /proc/self/smaps shows it; proc_pid_smaps(5).
package struct MemoryMapping: Sendable {
  /// The first address, and the one behind the last.
  package let start, end: UInt
  /// Such as `rw-p`.
  package let permissions: String
  /// The file or the kind of the mapping; empty for anonymous memory.
  package let name: String
  /// The KiB that are locked.
  package private(set) var locked = 0
  /// The two-letter codes of `VmFlags`.
  package private(set) var flags: Set<String> = []

  /// The bytes of a page.
  package static let pageSize = sysconf(Int32(_SC_PAGESIZE))

  /// All mappings, in order of address.
  package static func all() -> [MemoryMapping] {
    let text = String(decoding: contents(), as: UTF8.self)
    var mappings: [MemoryMapping] = []
    for line in text.split(separator: "\n") {
      if let mapping = MemoryMapping(header: line) {
        mappings.append(mapping)
      } else if !mappings.isEmpty {
        mappings[mappings.count - 1].read(detail: line)
      }
    }
    return mappings
  }

  /// The mapping that holds an address.
  package static func containing(_ address: UInt) -> MemoryMapping? {
    all().first { $0.start <= address && address < $0.end }
  }

  /// The file, read without an allocation on the way: the heap would grow, and be listed twice.
  private static func contents() -> ArraySlice<UInt8> {
    let file = unsafe open("/proc/self/smaps", O_RDONLY)
    precondition(file >= 0, "no /proc/self/smaps: errno \(errno)")
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: 4 << 20)
    var length = 0
    unsafe bytes.withUnsafeMutableBytes { buffer in
      // A file under /proc comes in pieces, and has no size to go by.
      while length < buffer.count {
        let start = unsafe buffer.baseAddress! + length
        let count = unsafe Glibc.read(file, start, buffer.count - length)
        guard count > 0 else { break }
        length += count
      }
      precondition(length < buffer.count, "more mappings than this was made for")
    }
    return bytes[..<length]
  }

  private init?(header line: Substring) {
    let fields = line.split(separator: " ", maxSplits: 5, omittingEmptySubsequences: true)
    let bounds = fields[0].split(separator: "-")
    guard bounds.count == 2, let start = UInt(bounds[0], radix: 16),
      let end = UInt(bounds[1], radix: 16)
    else { return nil }
    self.start = start
    self.end = end
    permissions = String(fields[1])
    name = fields.count > 5 ? fields[5].trimmingCharacters(in: .whitespaces) : ""
  }

  private mutating func read(detail line: Substring) {
    let fields = line.split(separator: " ", omittingEmptySubsequences: true)
    switch fields.first {
    case "Locked:": locked = Int(fields[1]) ?? 0
    case "VmFlags:": flags = Set(fields.dropFirst().map(String.init))
    default: break
    }
  }
}
