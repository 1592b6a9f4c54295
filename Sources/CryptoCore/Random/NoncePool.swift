internal import COpenSSL
internal import Glibc
internal import Synchronization

/// Random nonces from a memory page that is refilled as a whole.
///
/// One RAND_bytes(3) call for each 12-byte nonce costs several times the sealing of a short value.
/// With a page of nonces at a time, a nonce costs 4 ns.
///
/// The page is private and wiped in a forked child (madvise(2), MADV_WIPEONFORK). It also holds the
/// lock and the count of unused bytes. So a child starts with a free lock and an empty pool: it
/// can't wait for a thread that it does not have, and can't use zeroes as nonces. A child refills
/// the page from the kernel, because a lock of OpenSSL's generator may have stayed held. Other
/// processes use OpenSSL's generator, which takes a sixth of the time. Used bytes are zeroed.
package enum NoncePool {
  /// The bytes of the smallest page behind the cache line that holds lock and count.
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
      // Needs Linux 4.14 or newer; if it fails, there is no pool.
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

  /// The only page, which stays mapped; nil where the page can't be made.
  static let page = Page()

  /// Fills `nonce` with `count` bytes, 12 or 24.
  ///
  /// A key keeps the page, so that it checks only once whether the page exists.
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

  /// Copies bytes and zeroes the source.
  ///
  /// The size is constant, so this takes two moves and no call.
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

  /// Fills a page with OpenSSL's generator, and mixes in bytes of the kernel's generator.
  ///
  /// Two copies of a running machine or process have the same generator state, until the generator
  /// takes a new seed after thousands of calls. The kernel's generator differs in each copy, if the
  /// kernel is told that the machine was copied.
  private static func generate(_ bytes: UnsafeMutableRawPointer) throws(CryptoError) {
    OpenSSLLibrary.prepare()
    let fresh = try SecureRandom.publicBytes(count: 32)
    guard let generator = unsafe RAND_get0_public(nil) else {
      throw CryptoError(library: "RAND_get0_public")
    }
    let result = unsafe fresh.withUnsafeBytes { fresh in
      // The same as RAND_bytes(3), but with additional input.
      unsafe EVP_RAND_generate(
        generator, bytes.assumingMemoryBound(to: UInt8.self), capacity, 0, 0,
        fresh.baseAddress?.assumingMemoryBound(to: UInt8.self), fresh.count)
    }
    guard result == 1 else { throw CryptoError(library: "EVP_RAND_generate") }
  }

  /// Takes the lock, or gives up after a short spin, since a direct call is then cheaper than
  /// waiting.
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
