import Foundation
import TestSupport
import Testing

@testable import CryptoCore

/// What the kernel says of the pages that hold keys.
struct KeyPageTests {
  /// 32 shares a page with other keys; the others have pages of their own.
  @Test(arguments: [1, 32, 64, 65, 4096, 4097, 20_000])
  func aKeyIsLockedAndLeftOutOfDumps(count: Int) throws {
    let bytes = try SecureBytes.random(count: count)
    let address = bytes.address
    for position in [address, address + UInt(count - 1)] {
      var mapping = try #require(MemoryMapping.containing(position))
      let wanted = (count + 1023) / 1024
      // Of pages that a child of another test shares, the kernel counts a part.
      for _ in 0..<600 where mapping.locked < wanted {
        usleep(100_000)
        mapping = try #require(MemoryMapping.containing(position))
      }
      #expect(mapping.permissions == "rw-p")
      // proc_pid_smaps(5): lo is locked, dd is left out of core dumps.
      #expect(mapping.flags.isSuperset(of: ["lo", "dd"]), "\(mapping.flags)")
      #expect(mapping.locked >= wanted)
    }
    #expect(SecureMemory.protection == .locked)
    withExtendedLifetime(bytes) {}
  }

  @Test(arguments: [32, 64, 65, 4096, 4097, 20_000])
  func aKeyLiesBetweenPagesThatNothingMayTouch(count: Int) throws {
    let bytes = try SecureBytes.random(count: count)
    let mapping = try #require(MemoryMapping.containing(bytes.address))
    for neighbour in [mapping.start - 1, mapping.end] {
      let fence = try #require(MemoryMapping.containing(neighbour))
      #expect(fence.permissions == "---p")
    }
    // Pages of its own end with the key's last page: an overrun soon meets the fence.
    if count > SecureMemory.slotSize {
      #expect(mapping.start == bytes.address)
      let page = MemoryMapping.pageSize
      #expect(mapping.end - mapping.start == UInt((count + page - 1) / page * page))
    }
    withExtendedLifetime(bytes) {}
  }

  @Test func readingPastTheFenceEndsTheProcess() async {
    await #expect(processExitsWith: .failure) {
      let bytes = try SecureBytes.random(count: MemoryMapping.pageSize)
      let behind = unsafe UnsafePointer<UInt8>(bitPattern: bytes.address + UInt(bytes.count))!
      print(unsafe behind.pointee, bytes)
    }
  }

  // These two run in a process of their own: elsewhere another test may take what is released.

  @Test func aReleasedPageIsUnmapped() async {
    await #expect(processExitsWith: .success) {
      var bytes: SecureBytes? = try SecureBytes.random(count: 5000)
      let address = try #require(bytes).address
      bytes = nil
      #expect(ProcessMemory.read(address, count: 1) == nil)
    }
  }
}
