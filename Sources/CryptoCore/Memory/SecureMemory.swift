internal import COpenSSL
internal import Glibc

/// Memory pages for key bytes: locked, excluded from core dumps, between guard pages, wiped when
/// freed.
///
/// OpenSSL's secure heap is not used, because it is plain `malloc` until initialised, and returns
/// NULL when it is full. Keys of up to 64 bytes share pages; a longer secret has its own pages.
/// `mlock` applies to one process: the copy of a page in a forked child may be swapped. fork(2)
/// waits for the lock of this type, so that a child can make and free keys.
package enum SecureMemory {
  /// Whether keys are kept out of swap and core dumps.
  package enum Protection: Hashable, Sendable {
    /// No key has been held yet.
    case unused
    /// Every key page so far is locked and excluded from dumps.
    case locked
    /// At least one page could not be locked; the number is `errno`.
    case unlocked(errno: Int32)
  }

  static let slotSize = 64

  private struct State {
    var freeSlots: [UInt] = []
    var protection: Protection = .unused
  }
  private static let state: Lock<State> = {
    let state = Lock(State())
    unsafe shared = .passRetained(state)
    // pthread_atfork(3): the forking thread takes the lock, and both processes release it.
    let result = pthread_atfork(
      { unsafe SecureMemory.shared!.takeUnretainedValue().lock() },
      { unsafe SecureMemory.shared!.takeUnretainedValue().unlock() },
      { unsafe SecureMemory.shared!.takeUnretainedValue().unlock() })
    precondition(result == 0, "pthread_atfork failed with errno \(result)")
    return state
  }()

  // Unsafe, but correct without a lock: only the handlers read it, and it is set once, before they
  // are registered. Its first value is a constant, so using it takes no Swift lock either: with any
  // other global, a child might wait for a thread that it does not have.
  nonisolated(unsafe) private static var shared: Unmanaged<Lock<State>>? = nil

  /// Whether key pages are locked.
  package static var protection: Protection { state.withLock { $0.protection } }

  /// Allocates `count` zeroed bytes; free them with ``deallocate(_:)``.
  static func allocate(count: Int) throws(CryptoError) -> UnsafeMutableRawBufferPointer {
    guard count > slotSize else {
      let address = try state.withLock { (state) throws(CryptoError) -> UInt in
        if state.freeSlots.isEmpty { try addPage(to: &state) }
        return state.freeSlots.removeLast()
      }
      return unsafe .init(start: UnsafeMutableRawPointer(bitPattern: address), count: count)
    }
    let base = try state.withLock { (state) throws(CryptoError) -> UInt in
      try map(count: roundedToPages(count), state: &state)
    }
    return unsafe .init(start: UnsafeMutableRawPointer(bitPattern: base), count: count)
  }

  /// Wipes the memory and frees it.
  static func deallocate(_ buffer: UnsafeMutableRawBufferPointer) {
    guard let start = buffer.baseAddress else { return }
    unsafe OPENSSL_cleanse(start, buffer.count)
    if buffer.count <= slotSize {
      state.withLock { $0.freeSlots.append(UInt(bitPattern: start)) }
    } else {
      let data = roundedToPages(buffer.count)
      unsafe munmap(start - pageSize, data + 2 * pageSize)
    }
  }

  private static let pageSize = Int(sysconf(Int32(_SC_PAGESIZE)))

  private static func roundedToPages(_ count: Int) -> Int {
    (count + pageSize - 1) / pageSize * pageSize
  }

  private static func addPage(to state: inout State) throws(CryptoError) {
    let base = try map(count: pageSize, state: &state)
    for offset in stride(from: 0, to: pageSize, by: slotSize) {
      state.freeSlots.append(base + UInt(offset))
    }
  }

  /// Maps `count` bytes of whole pages between two guard pages.
  private static func map(count: Int, state: inout State) throws(CryptoError) -> UInt {
    let whole = count + 2 * pageSize
    let mapping = unsafe mmap(nil, whole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
    guard let mapping = unsafe mapping, unsafe mapping != MAP_FAILED else {
      throw CryptoError(.outOfMemory, "mmap failed with errno \(errno)")
    }
    let data = unsafe mapping + pageSize
    guard unsafe mprotect(data, count, PROT_READ | PROT_WRITE) == 0 else {
      let number = errno
      unsafe munmap(mapping, whole)
      throw CryptoError(.outOfMemory, "mprotect failed with errno \(number)")
    }
    // madvise(2), MADV_DONTDUMP: excluded from core dumps. mlock(2): never swapped out.
    let dumped = unsafe madvise(data, count, MADV_DONTDUMP)
    let locked = dumped == 0 ? unsafe mlock(data, count) : -1
    if locked != 0 {
      state.protection = .unlocked(errno: errno)
    } else if state.protection == .unused {
      state.protection = .locked
    }
    return UInt(bitPattern: data)
  }
}
