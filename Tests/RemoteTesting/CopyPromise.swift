private import CryptoCore
private import Foundation
private import RemoteBackend
private import StorageCore
private import StorageTesting
private import TestSupport
private import Testing
private import VaultBackend

/// The copy of a store that a machine keeps in a vault, over every engine.
package enum CopyPromise {
  package static let all: [EnginePromise] = [
    EnginePromise(
      "a program starts from it while the engine is away and comes back", start),
    EnginePromise("how old it is counts", aging),
    EnginePromise(
      "changes of others get into it by themselves", following),
    EnginePromise(
      "without a copy a program does not start while the engine is away", absence),
    EnginePromise(
      "an engine that went back is an error at the start", goingBack),
    EnginePromise(
      "a copy that is removed is not made anew with a part of the values", removal),
    EnginePromise(
      "who makes the copy second leaves nothing of the first", making),
    EnginePromise(
      "a copy that can't be read is an error with the engine there or away", reading),
    EnginePromise("it holds no name and no value", secrecy),
    EnginePromise(
      "of two programs with one copy the newer moment stays", sharing),
  ]

  /// A store, and a machine that keeps a copy of it.
  private final class Subject {
    private struct Copy { weak var storage: VaultStorage? }

    let engine: any FleetEngine
    let name = UUID().uuidString
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    let proxy: FaultProxy
    private var copies: [Copy] = []
    var file: URL { folder.appendingPathComponent("machine/copy.vault") }

    init(_ engine: any FleetEngine) throws {
      self.engine = engine
      proxy = FaultProxy(to: engine.ports[0])
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      try direct().create()
    }

    deinit {
      proxy.end()
      // A program that has ended may still be writing its copy, which would come back.
      for _ in 0..<2_000 where copies.contains(where: { $0.storage != nil }) { usleep(5_000) }
      try? FolderRemoval.remove(folder)
    }

    /// A program on another machine.
    func direct(reading: RemoteReading = .cached) -> RemoteStorage {
      engine.store(name, reading: reading)
    }

    func copy(_ key: UInt8 = 9) -> VaultStorage {
      let storage = VaultStorage(
        at: file, keySource: .key(SymmetricKey(data: Data(repeating: key, count: 32))))
      copies.append(Copy(storage: storage))
      return storage
    }

    /// What the program has after a start on the machine.
    func start(
      _ other: String? = nil, _ deadline: Int64 = 55, reading: RemoteReading = .cached,
      copy: VaultStorage? = nil
    ) -> RemoteStorage {
      engine.store(
        other ?? name, deadline, reading: reading, copy: copy ?? self.copy(), port: proxy.port)
    }

    func cutOff() { proxy.mode = .refuse }
  }

  private static func start(_ engine: any FleetEngine) throws {
    let subject = try Subject(engine)
    let first = subject.start()
    try first.save("1", forKey: "k")
    try first.save("gone", forKey: "removed")
    try first.delete(forKey: "removed")
    try first.refresh()
    subject.cutOff()
    let program = subject.start()
    #expect(try program.load(String.self, forKey: "k") == "1")
    #expect(try program.keys() == ["k"])
    guard case .away(let error, _, let age) = program.state else {
      Issue.record("it is not away")
      return
    }
    #expect(error.code == .unavailable)
    #expect(age >= .zero && age < .seconds(600), "\(age)")
    let exact = subject.start(nil, 1, reading: .linearizable)
    #expect(thrown { _ = try exact.load(String.self, forKey: "k") }?.code == .unavailable)
    let refused = thrown { try exact.save("2", forKey: "k") }?.code
    #expect(refused == .unavailable || refused == .timedOut, "\(refused as Any)")

    try subject.direct().save("2", forKey: "k")
    subject.proxy.mode = .pass
    while try program.load(String.self, forKey: "k") != "2" { usleep(2_000) }
    try program.save("3", forKey: "k")
    #expect(
      try subject.direct(reading: .linearizable).load(String.self, forKey: "k") == "3")
  }

  /// The clock that says how old a copy is may have been set back since.
  private static func aging(_ engine: any FleetEngine) throws {
    for (shift, isNew) in [(0, true), (3_600, false), (Int64.max, false), (Int64.min, false)] {
      try age(Subject(engine), shift, isNew)
    }
  }

  private static func age(_ subject: Subject, _ shift: Int64, _ isNew: Bool) throws {
    let first = subject.start()
    try first.save("1", forKey: "k")
    try first.refresh()
    let kept = subject.copy()
    var state = try #require(try kept.load([String].self, forKey: "state"))
    let time = Int64(state[4])!.addingReportingOverflow(shift)
    state[4] = "\(time.overflow ? shift : time.partialValue)"
    subject.cutOff()
    while case .current = first.state { usleep(2_000) }
    try kept.save(state, forKey: "state")
    let program = subject.start(nil, 1, reading: .cached(maximumAge: .seconds(1_800)))
    var value: String?
    let code = thrown { value = try program.load(String.self, forKey: "k") }?.code
    #expect(isNew ? value == "1" : code == .unavailable || code == .timedOut, "\(code as Any)")
  }

  private static func following(_ engine: any FleetEngine) throws {
    let subject = try Subject(engine)
    let program = subject.start()
    #expect(try program.load(String.self, forKey: "k") == nil)
    let other = subject.direct()
    let kept = subject.copy()
    func mark() throws -> String? { try kept.load([String].self, forKey: "state")?[3] }
    for value in ["1", "2", nil, "3"] {
      // At the first change there may be no copy yet.
      let before = try? mark()
      if let value { try other.save(value, forKey: "k") } else { try other.delete(forKey: "k") }
      while try program.load(String.self, forKey: "k") != value { usleep(2_000) }
      while (try? mark()) == before { usleep(20_000) }
      subject.cutOff()
      #expect(try subject.start().load(String.self, forKey: "k") == value)
      subject.proxy.mode = .pass
      while true {
        if case .current = program.state { break }
        usleep(5_000)
      }
    }
    withExtendedLifetime(program) {}
  }

  private static func absence(_ engine: any FleetEngine) throws {
    let subject = try Subject(engine)
    subject.cutOff()
    let program = subject.start(nil, 1)
    #expect(thrown { _ = try program.load(String.self, forKey: "k") }?.code == .unavailable)
    #expect(!FileManager.default.fileExists(atPath: subject.file.path))
  }

  private static func goingBack(_ engine: any FleetEngine) throws {
    for what in ["changed", "added", "removed"] { try goBack(Subject(engine), what) }
  }

  private static func goBack(_ subject: Subject, _ what: String) throws {
    let backup: String
    do {
      let program = subject.start()
      try program.save("old", forKey: "k")
      backup = try subject.engine.backUp()
      switch what {
      case "changed": try program.save("new", forKey: "k")
      case "added": try program.save("new", forKey: "added")
      default: try program.delete(forKey: "k")
      }
      try program.refresh()
    }
    try subject.engine.goBack(to: backup)
    // Others write on, so the engine's marks soon are higher than it was.
    let other = subject.direct()
    for value in 0..<20 { try other.save(value, forKey: "n") }
    let program = subject.start()
    for _ in 0..<2 {
      let error = thrown { _ = try program.load(String.self, forKey: "k") }
      #expect(error?.code == .damaged)
      #expect(error?.message.contains("remove the copy") == true, "\(error!)")
    }
    // The operator knows what is lost.
    try FileManager.default.removeItem(at: subject.file.deletingLastPathComponent())
    let accepted = subject.start()
    #expect(try accepted.load(String.self, forKey: "k") == "old")
    try accepted.save("again", forKey: "k")
    // The copy that is made anew has all.
    try accepted.refresh()
    subject.cutOff()
    #expect(try subject.start().load(String.self, forKey: "k") == "again")
  }

  private static func removal(_ engine: any FleetEngine) throws {
    let subject = try Subject(engine)
    let program = subject.start()
    try program.save("1", forKey: "a")
    try program.refresh()
    try FileManager.default.removeItem(at: subject.file.deletingLastPathComponent())
    try program.save("2", forKey: "b")
    #expect(thrown { try program.refresh() }?.code == .unavailable)
    #expect(!FileManager.default.fileExists(atPath: subject.file.path))
    // The next start makes it anew, with all of them.
    let next = subject.start()
    #expect(try next.keys().count == 2)
    try next.refresh()
    subject.cutOff()
    #expect(try subject.start().load(String.self, forKey: "a") == "1")
  }

  private static func making(_ engine: any FleetEngine) throws {
    let subject = try Subject(engine)
    let (one, other) = (subject.start(), subject.direct())
    try other.save("1", forKey: "removed")
    try one.refresh()
    try other.delete(forKey: "removed")
    // It finds no copy at its start, and then one of an earlier moment.
    let kept = subject.file.deletingLastPathComponent()
    let aside = subject.folder.appendingPathComponent("aside")
    try FileManager.default.moveItem(at: kept, to: aside)
    let two = subject.start()
    #expect(try two.keys().isEmpty)
    try? FileManager.default.removeItem(at: kept)
    try FileManager.default.moveItem(at: aside, to: kept)
    try two.save("2", forKey: "k")
    try two.refresh()
    subject.cutOff()
    #expect(try subject.start().keys() == ["k"])
    withExtendedLifetime(one) {}
  }

  private static func reading(_ engine: any FleetEngine) throws {
    let subject = try Subject(engine)
    let first = subject.start()
    try first.save("1", forKey: "k")
    try first.refresh()
    for isAway in [false, true] {
      if isAway { subject.cutOff() }
      let wrongKey = thrown {
        _ = try subject.start(copy: subject.copy(8)).load(String.self, forKey: "k")
      }
      #expect(wrongKey?.code == .wrongKey)
      #expect(wrongKey?.message.contains("copy") == true, "\(wrongKey!)")
      #expect(thrown { _ = try subject.start("other \(subject.name)").keys() }?.code == .conflict)
    }
    try Data("no vault at all".utf8).write(to: subject.file)
    let damaged = thrown { _ = try subject.start().load(String.self, forKey: "k") }
    #expect(damaged?.code == .damaged, "\(String(describing: damaged))")
  }

  private static func secrecy(_ engine: any FleetEngine) throws {
    let subject = try Subject(engine)
    let program = subject.start()
    try program.save("marker-of-a-value", forKey: "marker-of-a-name")
    try program.refresh()
    let folder = subject.file.deletingLastPathComponent()
    for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
      let bytes = try Data(contentsOf: folder.appendingPathComponent(name))
      #expect(bytes.range(of: Data("marker-of".utf8)) == nil, "\(name)")
    }
  }

  private static func sharing(_ engine: any FleetEngine) throws {
    let subject = try Subject(engine)
    let (one, two) = (subject.start(), subject.start())
    for round in 0..<10 {
      try one.save(round, forKey: "n")
      try two.save(round, forKey: "m\(round)")
      try (round.isMultiple(of: 2) ? one : two).refresh()
      try (round.isMultiple(of: 3) ? one : two).refresh()
    }
    subject.cutOff()
    let program = subject.start()
    #expect(try program.load(Int.self, forKey: "n") == 9)
    #expect(try program.keys().count == 11)
  }
}
