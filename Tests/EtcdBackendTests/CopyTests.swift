import EtcdBackend
import Foundation
import RemoteTesting
import StorageTesting
import TestSupport
import Testing
import VaultBackend

/// The copy of a store that a machine keeps, in a vault.
struct CopyTests {
  /// A member, a store, and a machine that keeps a copy of it.
  private final class Subject {
    let cluster: EtcdCluster
    let file: URL
    let proxy: FaultProxy

    init() throws {
      cluster = try EtcdCluster()
      file = cluster.folder.appendingPathComponent("machine/copy.vault")
      proxy = FaultProxy(to: cluster.ports[0])
      try cluster.storage().create()
    }

    deinit { proxy.end() }

    func copy(_ key: UInt8 = 9) -> VaultStorage {
      VaultStorage(
        at: file, keySource: .key(SymmetricKey(data: Data(repeating: key, count: 32))))
    }

    /// What the program has after a start on the machine.
    func start(_ prefix: String = "/t", _ copy: VaultStorage? = nil) -> EtcdStorage {
      EtcdStorage(
        EtcdConfiguration(
          endpoints: ["http://127.0.0.1:\(proxy.port)"], prefix: prefix, deadline: .seconds(55),
          copy: copy ?? self.copy()),
        keySource: .key(SymmetricKey(data: Data(repeating: 7, count: 32))))
    }

    func cutOff() { proxy.mode = .refuse }
  }

  private func failure(_ body: () throws -> Void) -> StorageError? {
    do {
      try body()
      return nil
    } catch {
      return error as? StorageError
    }
  }

  @Test func aProgramStartsFromItWhileEtcdIsAwayAndComesBack() throws {
    let subject = try Subject()
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
    let exact = EtcdStorage(
      EtcdConfiguration(
        endpoints: ["http://127.0.0.1:\(subject.proxy.port)"], prefix: "/t",
        deadline: .seconds(1), copy: subject.copy()),
      keySource: .key(SymmetricKey(data: Data(repeating: 7, count: 32))), reading: .linearizable)
    #expect(failure { _ = try exact.load(String.self, forKey: "k") }?.code == .unavailable)
    let refused = failure { try exact.save("2", forKey: "k") }?.code
    #expect(refused == .unavailable || refused == .timedOut, "\(refused as Any)")

    try subject.cluster.storage().save("2", forKey: "k")
    subject.proxy.mode = .pass
    while try program.load(String.self, forKey: "k") != "2" { usleep(2_000) }
    try program.save("3", forKey: "k")
    #expect(
      try subject.cluster.storage(reading: .linearizable).load(String.self, forKey: "k") == "3")
  }

  /// The clock that says how old a copy is may have been set back since.
  @Test(arguments: [(0, true), (3_600, false), (Int64.max, false), (Int64.min, false)])
  func howOldItIsCounts(_ shift: Int64, _ isNew: Bool) throws {
    let subject = try Subject()
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
    let program = EtcdStorage(
      EtcdConfiguration(
        endpoints: ["http://127.0.0.1:\(subject.proxy.port)"], prefix: "/t",
        deadline: .seconds(1), copy: subject.copy()),
      keySource: .key(SymmetricKey(data: Data(repeating: 7, count: 32))),
      reading: .cached(maximumAge: .seconds(1_800)))
    var value: String?
    let code = failure { value = try program.load(String.self, forKey: "k") }?.code
    #expect(isNew ? value == "1" : code == .unavailable || code == .timedOut, "\(code as Any)")
  }

  @Test func changesOfOthersGetIntoItByThemselves() throws {
    let subject = try Subject()
    let program = subject.start()
    #expect(try program.load(String.self, forKey: "k") == nil)
    let other = subject.cluster.storage()
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

  @Test func withoutACopyAProgramDoesNotStartWhileEtcdIsAway() throws {
    let subject = try Subject()
    subject.cutOff()
    let program = EtcdStorage(
      EtcdConfiguration(
        endpoints: ["http://127.0.0.1:\(subject.proxy.port)"], prefix: "/t",
        deadline: .seconds(1), copy: subject.copy()),
      keySource: .key(SymmetricKey(data: Data(repeating: 7, count: 32))))
    #expect(failure { _ = try program.load(String.self, forKey: "k") }?.code == .unavailable)
    #expect(!FileManager.default.fileExists(atPath: subject.file.path))
  }

  @Test(arguments: ["changed", "added", "removed"])
  func anEtcdThatWentBackIsAnErrorAtTheStart(_ what: String) throws {
    let subject = try Subject()
    let snapshot = subject.cluster.path + "/snapshot"
    do {
      let program = subject.start()
      try program.save("old", forKey: "k")
      try subject.cluster.control("snapshot", "save", snapshot)
      switch what {
      case "changed": try program.save("new", forKey: "k")
      case "added": try program.save("new", forKey: "added")
      default: try program.delete(forKey: "k")
      }
      try program.refresh()
    }
    try subject.cluster.restore(snapshot)
    // Others write on, so etcd's revision soon is higher than it was.
    let other = subject.cluster.storage()
    for value in 0..<20 { try other.save(value, forKey: "n") }
    let program = subject.start()
    for _ in 0..<2 {
      let error = failure { _ = try program.load(String.self, forKey: "k") }
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

  @Test func aCopyThatIsRemovedIsNotMadeAnewWithAPartOfTheValues() throws {
    let subject = try Subject()
    let program = subject.start()
    try program.save("1", forKey: "a")
    try program.refresh()
    try FileManager.default.removeItem(at: subject.file.deletingLastPathComponent())
    try program.save("2", forKey: "b")
    #expect(failure { try program.refresh() }?.code == .unavailable)
    #expect(!FileManager.default.fileExists(atPath: subject.file.path))
    // The next start makes it anew, with all of them.
    let next = subject.start()
    #expect(try next.keys().count == 2)
    try next.refresh()
    subject.cutOff()
    #expect(try subject.start().load(String.self, forKey: "a") == "1")
  }

  @Test func whoMakesTheCopySecondLeavesNothingOfTheFirst() throws {
    let subject = try Subject()
    let (one, other) = (subject.start(), subject.cluster.storage())
    try other.save("1", forKey: "removed")
    try one.refresh()
    try other.delete(forKey: "removed")
    // It finds no copy at its start, and then one of an earlier moment.
    let kept = subject.file.deletingLastPathComponent()
    let aside = subject.cluster.folder.appendingPathComponent("aside")
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

  @Test func anotherClusterAtTheSameAddressIsAnErrorAtTheStart() throws {
    let subject = try Subject()
    try subject.start().refresh()
    try subject.cluster.startAnew()
    try subject.cluster.storage().create()
    #expect(failure { try subject.start().open() }?.code == .damaged)
  }

  @Test func aCopyThatCantBeReadIsAnErrorWithEtcdThereOrAway() throws {
    let subject = try Subject()
    let first = subject.start()
    try first.save("1", forKey: "k")
    try first.refresh()
    for isAway in [false, true] {
      if isAway { subject.cutOff() }
      let wrongKey = failure {
        _ = try subject.start("/t", subject.copy(8)).load(String.self, forKey: "k")
      }
      #expect(wrongKey?.code == .wrongKey)
      #expect(wrongKey?.message.contains("copy") == true, "\(wrongKey!)")
      #expect(failure { _ = try subject.start("/other").keys() }?.code == .conflict)
    }
    try Data("no vault at all".utf8).write(to: subject.file)
    let damaged = failure { _ = try subject.start().load(String.self, forKey: "k") }
    #expect(damaged?.code == .damaged, "\(String(describing: damaged))")
  }

  @Test func itHoldsNoNameAndNoValue() throws {
    let subject = try Subject()
    let program = subject.start()
    try program.save("marker-of-a-value", forKey: "marker-of-a-name")
    try program.refresh()
    let folder = subject.file.deletingLastPathComponent()
    for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
      let bytes = try Data(contentsOf: folder.appendingPathComponent(name))
      #expect(bytes.range(of: Data("marker-of".utf8)) == nil, "\(name)")
    }
  }

  @Test func ofTwoProgramsWithOneCopyTheNewerMomentStays() throws {
    let subject = try Subject()
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
