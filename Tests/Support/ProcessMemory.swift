private import Glibc

/// The memory of this process, read through /proc/self/mem so that a bad address is no crash.
package enum ProcessMemory {
  /// The bytes at an address, or nil where nothing readable is mapped.
  package static func read(_ address: UInt, count: Int) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: count)
    return read(address, into: &bytes) ? bytes : nil
  }

  /// Fills `bytes` from an address, and tells whether all of it is readable.
  ///
  /// It allocates nothing, so that memory just freed is seen as it was left.
  package static func read(_ address: UInt, into bytes: inout [UInt8]) -> Bool {
    let file = openFile()
    defer { close(file) }
    return unsafe pread(file, &bytes, bytes.count, Int(bitPattern: address)) == bytes.count
  }

  /// Every place in writable memory that holds the pattern.
  ///
  /// The pattern itself is never put together: it is compared with `left` XOR `right`, so that the
  /// search doesn't find, or leave, a copy of its own.
  package static func addresses(of left: [UInt8], xor right: [UInt8]) -> [UInt] {
    Search().addresses(of: left, xor: right)
  }

  /// A search through the memory that was writable when it was made.
  ///
  /// It allocates next to nothing, where listing the mappings would write over what was just freed.
  package struct Search: ~Copyable {
    private let window = Window()
    private let mappings: [MemoryMapping]

    /// Lists the mappings.
    package init() {
      // The window is left out: it holds copies of what was read before.
      let own = window.address
      mappings = MemoryMapping.all().filter { $0.permissions.hasPrefix("rw") && $0.start != own }
    }

    /// Every place that holds the pattern.
    package func addresses(of left: [UInt8], xor right: [UInt8]) -> [UInt] {
      precondition(left.count == right.count && !left.isEmpty)
      let file = openFile()
      defer { close(file) }
      var found: [UInt] = []
      for mapping in mappings {
        // A pattern across the border of two reads is whole in the second.
        let step = UInt(Window.size - left.count + 1)
        for address in stride(from: mapping.start, to: mapping.end, by: Int(step)) {
          let wanted = min(Int(mapping.end - address), Window.size)
          let count = unsafe pread(file, window.start, wanted, Int(bitPattern: address))
          for offset in window.offsets(count: count, of: left, xor: right) {
            found.append(address + UInt(offset))
          }
        }
      }
      return found
    }
  }

  private static func openFile() -> Int32 {
    let file = unsafe open("/proc/self/mem", O_RDONLY)
    precondition(file >= 0, "no /proc/self/mem: errno \(errno)")
    return file
  }

  /// A mapping of its own to read into, zeroed and unmapped at the end.
  // Not private: the linker of a release build would miss its metadata.
  @safe
  struct Window: ~Copyable {
    static let size = 1 << 20
    private static let fence = MemoryMapping.pageSize
    let start: UnsafeMutableRawPointer
    var address: UInt { unsafe UInt(bitPattern: start) }

    init() {
      // Between pages of its own that nothing may touch, so that it never joins a neighbour.
      let mapping = unsafe mmap(
        nil, Self.size + 2 * Self.fence, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
      guard let mapping = unsafe mapping, unsafe mapping != MAP_FAILED,
        unsafe mprotect(mapping + Self.fence, Self.size, PROT_READ | PROT_WRITE) == 0
      else { fatalError("mmap failed with errno \(errno)") }
      unsafe start = mapping + Self.fence
    }

    deinit {
      unsafe munmap(start - Self.fence, Self.size + 2 * Self.fence)
    }

    func offsets(count: Int, of left: [UInt8], xor right: [UInt8]) -> [Int] {
      guard count >= left.count else { return [] }
      // By a byte that is neither text nor among those of which memory is full.
      let anchor = left.indices.first { (0x90..<0xe0).contains(left[$0] ^ right[$0]) } ?? 0
      let sought = Int32(left[anchor] ^ right[anchor])
      let end = unsafe start + (count - left.count + 1 + anchor)
      var offsets: [Int] = []
      var position = unsafe start + anchor
      while unsafe position < end, let hit = unsafe memchr(position, sought, end - position) {
        let candidate = unsafe UnsafeRawBufferPointer(start: hit - anchor, count: left.count)
        if left.indices.allSatisfy({ unsafe candidate[$0] == left[$0] ^ right[$0] }) {
          offsets.append(unsafe hit - start - anchor)
        }
        unsafe position = hit + 1
      }
      return offsets
    }
  }
}
