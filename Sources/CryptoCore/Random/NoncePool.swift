internal import COpenSSL
internal import Glibc
internal import Synchronization

/// Random nonces from a page that is refilled whole.
///
/// One RAND_bytes(3) call for each 12-byte nonce costs several times the sealing of a short value;
/// a page of them at a time, 4 ns each. The page is private and wiped in a forked child
/// (madvise(2), MADV_WIPEONFORK), and it holds the lock and the count of what is left besides the
/// bytes: a child starts with a free lock and an empty pool, so it can neither wait for a thread it
/// does not have nor hand out zeroes. A child refills from the kernel, since OpenSSL's generator
/// has a lock that may have stayed held; elsewhere OpenSSL's takes a sixth of the time. Bytes are
/// zeroed as they are used.
package enum NoncePool {
  /// What the smallest page has behind the line of cache in which lock and count are.
  private static let capacity = 4096 - bytesOffset
  private static let bytesOffset = 64

  /// The wiped-on-fork page.
  ///
  /// All zero means: unlocked, empty, and in a forked child.
  @safe
  struct Page: @unchecked Sendable {
    // The pointers never change. `lock` guards `remaining` and `bytes`; `isOriginal` is written in
    // `init` and by fork(2).
    fileprivate let lock: UnsafeMutablePointer<Atomic<UInt32>>
    fileprivate let remaining: UnsafeMutablePointer<Int>
    fileprivate let isOriginal: UnsafeMutablePointer<Bool>
    fileprivate let bytes: UnsafeMutableRawPointer

    fileprivate init?() {
      let size = Int(sysconf(Int32(_SC_PAGESIZE)))
      let mapping = unsafe mmap(
        nil, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
      guard let mapping = unsafe mapping, unsafe mapping != MAP_FAILED else { return nil }
      // Linux 4.14 or newer; where it fails there is no pool.
      let wipeOnFork: Int32 = 18
      guard unsafe madvise(mapping, size, wipeOnFork) == 0 else {
        unsafe munmap(mapping, size)
        return nil
      }
      unsafe madvise(mapping, size, MADV_DONTDUMP)
      unsafe lock = mapping.bindMemory(to: Atomic<UInt32>.self, capacity: 1)
      unsafe lock.initialize(to: Atomic(0))
      unsafe remaining = (mapping + 8).bindMemory(to: Int.self, capacity: 1)
      unsafe isOriginal = (mapping + 16).bindMemory(to: Bool.self, capacity: 1)
      unsafe isOriginal.initialize(to: true)
      unsafe bytes = mapping + NoncePool.bytesOffset
    }
  }

  /// The one page, which stays mapped, or nil where there can be none.
  static let page = Page()

  /// Fills `nonce` with `count` bytes, 12 or 24.
  ///
  /// A key keeps the page, so that it asks only once whether there is one.
  @inline(__always)
  static func fill(
    _ nonce: UnsafeMutableRawPointer, count: Int, from page: Page? = page
  ) throws(CryptoError) {
    guard let page, acquire(page) else { return try unsafe fillDirectly(nonce, count: count) }
    defer { unsafe page.lock.pointee.store(0, ordering: .releasing) }
    if unsafe page.remaining.pointee < count { try refill(page) }
    let offset = unsafe page.remaining.pointee - count
    unsafe move(12, from: page.bytes + offset, to: nonce)
    if count == 24 { unsafe move(12, from: page.bytes + offset + 12, to: nonce + 12) }
    unsafe page.remaining.pointee = offset
  }

  /// Copies bytes and leaves zeroes in their place.
  ///
  /// Of constant size, so two moves and no call.
  @inline(__always)
  private static func move(
    _ count: Int, from source: UnsafeMutableRawPointer, to target: UnsafeMutableRawPointer
  ) {
    unsafe memcpy(target, source, count)
    unsafe memset(source, 0, count)
  }

  private static func refill(_ page: Page) throws(CryptoError) {
    unsafe page.remaining.pointee = 0
    if unsafe page.isOriginal.pointee {
      try unsafe generate(page.bytes)
    } else {
      try unsafe fillDirectly(page.bytes, count: capacity)
    }
    unsafe page.remaining.pointee = capacity
  }

  /// Fills a page by OpenSSL's generator, with some bytes of the kernel's.
  ///
  /// Two copies of a machine or process that was stopped and copied while it ran have the same state
  /// of the generator, until it takes a seed again after thousands of calls; the kernel's is another
  /// in each, where the machine tells it so.
  private static func generate(_ bytes: UnsafeMutableRawPointer) throws(CryptoError) {
    OpenSSLLibrary.prepare()
    let fresh = try SecureRandom.publicBytes(count: 32)
    guard let generator = unsafe RAND_get0_public(nil) else {
      throw CryptoError(library: "RAND_get0_public")
    }
    let result = unsafe fresh.withUnsafeBytes { fresh in
      // As RAND_bytes(3) does it, but for the additional input.
      unsafe EVP_RAND_generate(
        generator, bytes.assumingMemoryBound(to: UInt8.self), capacity, 0, 0,
        fresh.baseAddress?.assumingMemoryBound(to: UInt8.self), fresh.count)
    }
    guard result == 1 else { throw CryptoError(library: "EVP_RAND_generate") }
  }

  /// Takes the lock, or gives up after a short spin: then a direct call is cheaper than waiting.
  @inline(__always)
  private static func acquire(_ page: Page) -> Bool {
    for _ in 0..<64 {
      let (won, _) = unsafe page.lock.pointee.weakCompareExchange(
        expected: 0, desired: 1, ordering: .acquiring)
      if won { return true }
    }
    return false
  }

  private static func fillDirectly(
    _ nonce: UnsafeMutableRawPointer, count: Int
  ) throws(CryptoError) {
    var span = unsafe MutableRawSpan(_unsafeBytes: .init(start: nonce, count: count))
    try SecureRandom.fillPublic(&span)
  }
}
