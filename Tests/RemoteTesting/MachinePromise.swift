private import CryptoCore
private import Foundation
private import RemoteBackend
private import StorageCore
private import StorageTesting
private import TestSupport
private import Testing

/// Keys of a store that many machines share, over every engine.
package enum MachinePromise {
  package static let all: [EnginePromise] = [
    EnginePromise(
      "a machine that lacks the new key is named before anything is removed", lacking),
    EnginePromise(
      "where no machine has said anything nobody is locked out unasked", silence),
    EnginePromise(
      "promoting leaves recovery keys and a rotation needs the slot's own key", recovery),
    EnginePromise(
      "a machine does not discard the store of all", discarding),
    EnginePromise(
      "a store that is removed is an error in programs that run", removal),
    EnginePromise("what a machine said stays in its store", migration),
    EnginePromise(
      "a number that another key gets counts for no machine", numbers),
    EnginePromise(
      "all keys are replaced once all machines have the new one", replacement),
    EnginePromise(
      "keys are rotated while twenty writers write and the rotation is killed", rotation),
  ]

  private static func source(_ byte: UInt8) -> KeySource {
    .key(SymmetricKey(data: Data(repeating: byte, count: 32)))
  }

  /// A machine whose program looks for its keys in the order given.
  private static func machine(
    _ engine: any FleetEngine, _ name: String, _ bytes: UInt8..., deadline: Duration = .seconds(60)
  ) -> RemoteStorage {
    engine.store(
      name, keySource: .firstAvailable(bytes.map(source)), deadline: deadline, reading: .cached,
      copy: nil, port: nil)
  }

  private static func lacking(_ engine: any FleetEngine) throws {
    let first = machine(engine, "keys", 1)
    try first.create()
    try first.save("a", forKey: "k")
    try first.acknowledge(as: "web1")
    try machine(engine, "keys", 1, deadline: .seconds(59)).acknowledge(as: "web2")
    let old = try #require(try first.keyAdministration.slots().first)
    let new = try first.keyAdministration.add(source(2))
    // One machine has the new key now, and the other has not.
    let web1 = machine(engine, "keys", 1, 2, deadline: .seconds(58))
    #expect(try web1.acknowledge(as: "web1").slots == [old.id, new.id])
    for attempt in [
      { try web1.promote(new.id) }, { try web1.removeSlot(old.id) },
      { try web1.rotate(to: new.id, openedBy: source(2)) },
    ] {
      let failure = thrown(attempt)
      #expect(failure?.code == .conflict)
      #expect(failure?.message.contains("web2") == true)
      #expect(failure?.message.contains("web1,") == false)
      #expect(try web1.keyAdministration.slots().count == 2)
    }
    let web2 = machine(engine, "keys", 2, deadline: .seconds(57))
    try web2.acknowledge(as: "web2")
    try web1.promote(new.id)
    #expect(try web1.keyAdministration.slots().map(\.id) == [new.id])
    #expect(try web2.load(String.self, forKey: "k") == "a")
    #expect(
      thrown { try machine(engine, "keys", 1, deadline: .seconds(56)).open() }?.code == .wrongKey)
    #expect(try web2.machines().map(\.name) == ["web1", "web2"])
    try web2.forget("web1")
    #expect(try web2.machines().map(\.name) == ["web2"])
  }

  private static func silence(_ engine: any FleetEngine) throws {
    let first = machine(engine, "silent", 1)
    try first.create()
    let old = try #require(try first.keyAdministration.slots().first)
    let new = try first.keyAdministration.add(source(2))
    for attempt in [
      { try first.promote(new.id) }, { try first.removeSlot(old.id) },
      { try first.removeSlot(new.id) }, { try first.rotate(to: new.id, openedBy: source(2)) },
    ] {
      let failure = thrown(attempt)
      #expect(failure?.code == .conflict)
      #expect(failure?.message.contains("--unacknowledged") == true)
      #expect(try first.keyAdministration.slots().count == 2)
    }
    try first.promote(new.id, unacknowledged: true)
    #expect(try first.keyAdministration.slots().map(\.id) == [new.id])
    // Once somebody has said something, that counts, whatever the option says.
    let second = machine(engine, "silent", 2, deadline: .seconds(59))
    try second.acknowledge(as: "web1")
    let third = try second.keyAdministration.add(source(3))
    #expect(thrown { try second.promote(third.id, unacknowledged: true) }?.code == .conflict)
  }

  private static func recovery(_ engine: any FleetEngine) throws {
    let first = machine(engine, "recovery", 1)
    try first.create()
    try first.save("a", forKey: "k")
    let recovery = try first.keyAdministration.exportRecoveryKey()
    let new = try first.keyAdministration.add(source(2))
    let web1 = machine(engine, "recovery", 1, 2, deadline: .seconds(58))
    try web1.acknowledge(as: "web1")
    let before = try web1.keyAdministration.slots()
    for wrong in [source(1), source(3), .recovery(recovery)] {
      #expect(thrown { _ = try web1.rotate(to: new.id, openedBy: wrong) }?.code == .invalid)
      #expect(try web1.keyAdministration.slots() == before)
    }
    #expect(
      thrown {
        _ = try web1.rotate(
          to: new.id, openedBy: .firstAvailable([.recovery(recovery), source(2)]))
      }?.code == .invalid)
    try web1.promote(new.id)
    #expect(
      try web1.keyAdministration.slots().map(\.kind).sorted() == ["key", "recovery key"])
    let rescued = engine.store("recovery", 57, keySource: .recovery(recovery))
    #expect(try rescued.load(String.self, forKey: "k") == "a")
    try web1.rotate(to: new.id, openedBy: source(2))
    #expect(try web1.load(String.self, forKey: "k") == "a")
  }

  private static func discarding(_ engine: any FleetEngine) throws {
    let first = machine(engine, "it's one", 1)
    try first.create()
    try first.save("a", forKey: "k")
    let stranger = machine(engine, "it's one", 2)
    let refusal = try #require(thrown { _ = try stranger.load(String.self, forKey: "k") })
    #expect(refusal.code == .keyUnavailable || refusal.code == .wrongKey)
    #expect(!refusal.message.contains("discard"))
    for storage in [stranger, first] {
      let refusal = try #require(thrown { try storage.discard() })
      #expect(refusal.code == .unsupported)
      #expect(refusal.message.hasSuffix(engine.removal(of: "it's one")), "\(refusal)")
    }
    #expect(try first.load(String.self, forKey: "k") == "a")
  }

  /// A program that runs does not take its defaults when somebody removes the store.
  private static func removal(_ engine: any FleetEngine) throws {
    let first = machine(engine, "removed", 1)
    let other = machine(engine, "removed 2", 1)
    for storage in [first, other] {
      try storage.create()
      try storage.save("a", forKey: "k")
    }
    let running = machine(engine, "removed", 1, deadline: .seconds(59))
    let live = Live<String, RemoteStorage>(wrappedValue: "default", running, "k")
    #expect(live.wrappedValue == "a")
    try engine.remove("removed")
    while thrown({ _ = try running.load(String.self, forKey: "k") }) == nil {
      usleep(2_000)
    }
    let failure = try #require(thrown { _ = try running.load(String.self, forKey: "k") })
    #expect(failure.code == .unavailable)
    #expect(live.wrappedValue == "a")
    #expect(thrown { try running.save("b", forKey: "k") }?.code == .unavailable)
    #expect(try other.load(String.self, forKey: "k") == "a")
  }

  private static func migration(_ engine: any FleetEngine) throws {
    let first = machine(engine, "words", 1)
    try first.create()
    try first.save("a", forKey: "k")
    try first.acknowledge(as: "web1")
    let vault = InMemoryStorage()
    try SecureStorage.migrate(from: first, to: vault, removingFromSource: false)
    #expect(try vault.keys() == ["k"])
    // As a backup of an earlier version has it.
    try vault.save("old", forKey: "securestore.machine/gone")
    try SecureStorage.migrate(
      from: vault, to: first, onConflict: .replace, removingFromSource: false)
    #expect(try first.machines().map(\.name) == ["web1"])
  }

  private static func numbers(_ engine: any FleetEngine) throws {
    let first = machine(engine, "numbers", 1)
    try first.create()
    let lost = try first.keyAdministration.add(source(2))
    try machine(engine, "numbers", 2, deadline: .seconds(59)).acknowledge(as: "web2")
    // By a program that asks no machine.
    try first.keyAdministration.remove(lost.id)
    let new = try first.keyAdministration.add(source(3))
    #expect(new.id == lost.id)
    #expect(try first.machines().first?.slots == [])
    for attempt in [{ try first.promote(new.id) }, { try first.removeSlot(1) }] {
      let failure = thrown(attempt)
      #expect(failure?.code == .conflict)
      #expect(failure?.message.contains("web2") == true)
    }
  }

  private static func replacement(_ engine: any FleetEngine) throws {
    let old = machine(engine, "replace", 1)
    try old.create()
    for index in 0..<200 { try old.save(index, forKey: "\(index)") }
    let new = try old.keyAdministration.add(source(2))
    let both = machine(engine, "replace", 1, 2, deadline: .seconds(59))
    try both.acknowledge(as: "web1")
    let other = machine(engine, "replace", 2, deadline: .seconds(58))
    try other.acknowledge(as: "web2")
    try both.rotate(to: new.id, openedBy: source(2))
    #expect(try other.load(Int.self, forKey: "7") == 7)
    try other.save(8, forKey: "7")
    let late = machine(engine, "replace", 2, deadline: .seconds(57))
    for index in 0..<200 {
      #expect(try late.load(Int.self, forKey: "\(index)") == (index == 7 ? 8 : index))
    }
    #expect(
      thrown { try machine(engine, "replace", 1, deadline: .seconds(56)).open() }?.code
        == .wrongKey)
  }

  private static func rotation(_ engine: any FleetEngine) throws {
    let storages = (0..<5).map { engine.store("rotate", 100 + $0) }
    try storages[0].create()
    for start in stride(from: 0, to: 500, by: 100) {
      try storages[0].transaction { step in
        for index in start..<start + 100 { try step.save(index, forKey: "still \(index)") }
      }
    }
    let isOver = Lock(false)
    let counts = Lock([Int](repeating: 0, count: 20))
    let writers = DispatchGroup()
    for writer in 0..<20 {
      writers.enter()
      DetachedThread.start("writer") {
        while !isOver.withLock({ $0 }) {
          let next = counts.withLock { $0[writer] } + 1
          #expect(throws: Never.self) {
            try storages[writer % 5].save(next, forKey: "writer \(writer)")
          }
          counts.withLock { $0[writer] = next }
        }
        writers.leave()
      }
    }
    for round in 0..<Depth.count(12, day: 4) {
      let child = try engine.start("rotate", ["rotate"])
      #expect(child.nextLine() == "begun")
      usleep(UInt32(round * 25_000))
      child.kill()
      _ = try child.lines()
    }
    let report = try storages[1].keyAdministration.rotateDataKey()
    isOver.withLock { $0 = true }
    writers.wait()
    #expect(report.setAside == 0)
    let late = engine.store("rotate", 99)
    for (writer, count) in counts.withLock({ $0 }).enumerated() {
      #expect(count > 0)
      #expect(try late.load(Int.self, forKey: "writer \(writer)") == count)
    }
    for index in 0..<500 { #expect(try late.load(Int.self, forKey: "still \(index)") == index) }
  }
}
