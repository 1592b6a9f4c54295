import Foundation
import TestSupport
import Testing
import VaultBackend

/// What the files of a vault give away.
@Suite struct DisclosureTests {
  private let vault = TemporaryVault()

  // MARK: - Old slots

  /// The pieces of a header that another one has not: its slots' salts, checks and wrapped keys.
  private func pieces(of old: [UInt8], notIn new: [UInt8]) -> [[UInt8]] {
    stride(from: 0, to: old.count - 16, by: 8).map { Array(old[$0..<$0 + 16]) }
      .filter { !new.contains($0) }
  }

  private func expectGone(_ old: [UInt8], _ what: Comment) throws {
    let new = try #require(try vault.delegate().header().header)
    let pieces = pieces(of: old, notIn: new)
    #expect(pieces.count > 8, what)
    for name in vault.entries {
      let bytes = try vault.bytes(name)
      #expect(!pieces.contains { bytes.contains($0) }, "\(what), in \(name)")
    }
  }

  private func change(
    _ what: Comment, adding byte: UInt8 = 8, _ body: (VaultStorage) throws -> Void
  ) throws {
    let storage = vault.storage()
    for index in 0..<30 { try storage.save("value \(index)", forKey: "key \(index)") }
    try storage.keyAdministration.add(TemporaryVault.source(byte))
    let old = try #require(try vault.delegate().header().header)
    // It was there.
    #expect(try vault.entries.contains { try vault.bytes($0).contains(Array(old[22..<60])) }, what)
    try body(storage)
    // Both while it is open, and when nobody has it any more.
    try expectGone(old, what)
    withExtendedLifetime(storage) {}
  }

  @Test func anOldSlotIsGoneFromTheFileAndTheLog() throws {
    try change("removed") { storage in
      let slot = try #require(try storage.keyAdministration.slots().last)
      try storage.keyAdministration.remove(slot.id)
    }
    try change("changed") { try $0.keyAdministration.change(to: TemporaryVault.source(7)) }
    try change("rotated") { _ = try $0.keyAdministration.rotate() }
    try change("renamed") { _ = try $0.keyAdministration.rotate(names: true) }
    try change("another data key") { _ = try $0.keyAdministration.rotateDataKey() }
    try change("grown and compacted", adding: 9) { storage in
      for byte in 20..<45 { try storage.keyAdministration.add(TemporaryVault.source(UInt8(byte))) }
      try storage.keyAdministration.change(to: TemporaryVault.source(7))
      try storage.compact()
    }
  }

  /// Who changed the keys has ended, and others have the vault open, so that nobody takes up the
  /// log.
  @Test(arguments: [true, false])
  func anOldSlotThatAnotherProcessHadToLeaveGoesWithTheNextWriteOfAny(isKnown: Bool) throws {
    let storage = vault.storage()
    try storage.save("value", forKey: "key")
    let old = try #require(try vault.delegate().header().header)
    do {
      let reader = try RawReader(vault)
      #expect(try helper.start(["change", vault.path, "8"]).lines() == ["changed"])
      withExtendedLifetime(reader) {}
    }
    if isKnown {
      try storage.save("other", forKey: "key")
    } else {
      #expect(
        try helper.start(["save-with", vault.path, "8", "key", "other"]).lines() == ["saved"])
    }
    try expectGone(old, "after another process")
    withExtendedLifetime(storage) {}
  }

  /// The slots are again what the process that writes has seen last.
  @Test func aSlotThatCameAndWentMeanwhileGoesWithTheNextWriteOfAny() throws {
    let storage = vault.storage()
    try storage.save("value", forKey: "key")
    #expect(try helper.start(["add", vault.path, "8"]).lines() == ["added"])
    let old = try #require(
      try VaultDelegate(at: vault.url, access: .readOnly).header().header)
    do {
      let reader = try RawReader(vault)
      #expect(try helper.start(["remove-slot", vault.path, "2"]).lines() == ["removed"])
      withExtendedLifetime(reader) {}
    }
    try storage.save("other", forKey: "key")
    try expectGone(old, "a slot that came and went")
    withExtendedLifetime(storage) {}
  }

  @Test func whatWasRemovedOrReplacedIsGoneFromTheFileWhenItIsCompacted() throws {
    let storage = vault.storage()
    let delegate = vault.delegate()
    for index in 0..<50 { try storage.save("value \(index)", forKey: "key \(index)") }
    let records = try delegate.names().map { try #require(try delegate.record(for: $0)) }
    for index in 0..<50 { try storage.delete(forKey: "key \(index)") }
    try storage.compact()
    for name in vault.entries {
      let bytes = try vault.bytes(name)
      #expect(!records.contains { bytes.contains(Array($0.suffix(32))) }, "\(name)")
    }
  }

  // MARK: - The clear

  @Test func noFileEverHoldsANameOrAValueInTheClear() throws {
    let storage = vault.storage()
    let isDone = Lock(false)
    let seen = Lock(Set<String>())
    let copy = vault.file("copy.vault")
    Threads.run(
      3,
      meanwhile: {
        let needle = Array("needle-in-it".utf8)
        while !isDone.withLock({ $0 }) {
          for name in vault.entries {
            // What is gone again is looked at another time.
            guard let bytes = try? Data(contentsOf: vault.file(name)) else { continue }
            seen.withLock { _ = $0.insert(name.split(separator: ".").last.map(String.init) ?? "") }
            if bytes.contains(needle) { Issue.record("\(name) has it in the clear") }
          }
        }
      },
      { thread in
        defer { if thread == 0 { isDone.withLock { $0 = true } } }
        noError {
          guard thread == 0 else {
            for index in 0..<400 {
              try storage.save("a needle-in-it \(index)", forKey: "needle-in-it \(index % 20)")
              if index % 7 == 0 { try storage.delete(forKey: "needle-in-it \(index % 20)") }
            }
            return
          }
          // On until the one that looks has been quick enough to see a copy that is being made.
          for round in 0..<200 where round < 6 || !seen.withLock({ $0.contains("new") }) {
            try storage.save("one needle-in-it", forKey: "first needle-in-it")
            try storage.backup(to: copy, replacing: true)
            _ = try storage.keyAdministration.rotate(names: true)
            try storage.compact()
            try storage.restore(from: copy)
          }
        }
      })
    #expect(seen.withLock { $0 }.isSuperset(of: ["vault", "vault-wal", "vault-shm", "new"]))
    #expect(try storage.verify().isSound)
  }
}
