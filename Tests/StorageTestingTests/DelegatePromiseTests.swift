import CryptoCore
import Glibc
import SingletonBackend
import StorageCore
import StorageTesting
import Testing

@Suite struct DelegatePromiseTests {
  @Test(arguments: DelegatePromise.all(of: SingletonStorageDelegate.self))
  func theDelegateInMemoryKeepsIts(_ promise: DelegatePromise) throws {
    try promise.check { SingletonStorageDelegate() }
  }

  @Test(arguments: DelegatePromise.all(of: FaultyDelegate.self))
  func aFaultyDelegateWithoutFaultsKeepsIts(_ promise: DelegatePromise) throws {
    try promise.check { FaultyDelegate() }
  }

  @Test func promisesOfRefinedProtocolsAreCheckedOnlyWhereTheyAreMade() {
    let plain = DelegatePromise.all(of: ForgetfulDelegate.self)
    let keyed = DelegatePromise.all(of: SingletonStorageDelegate.self)
    #expect(plain.count < keyed.count)
    #expect(!plain.isEmpty)
  }

  @Test func aDelegateThatForgetsIsFoundOut() throws {
    var broken = 0
    for promise in DelegatePromise.all(of: ForgetfulDelegate.self) {
      do { try promise.check { ForgetfulDelegate() } } catch is BrokenPromise { broken += 1 }
    }
    #expect(broken >= 4)
  }

  @Test func aDelegateThatLooksAndThenSetsIsFoundOut() throws {
    let promise = try #require(
      DelegatePromise.all(of: HastyDelegate.self).first { $0.description.contains("same moment") })
    var found = 0
    for _ in 0..<8 {
      do { try promise.check { HastyDelegate() } } catch is BrokenPromise { found += 1 }
    }
    // All, but for a machine on which hardly ever two threads run at once.
    #expect(found >= 4)
  }
}

extension DelegatePromiseTests {
  /// Fails at each write, and does not say so of those that are swallowed.
  private final class SwallowingDelegate: StorageDelegate {
    enum Swallowed: CaseIterable { case removal, setting, settingIfAbsent, reading }
    let faults = FaultyDelegate()
    private let swallowed: Swallowed

    init(_ swallowed: Swallowed) { self.swallowed = swallowed }

    private func swallow(
      _ which: Swallowed, _ body: () throws(StorageError) -> Void
    ) throws(StorageError) {
      do throws(StorageError) { try body() } catch  where swallowed == which {}
    }

    func record(for name: NameHash) throws(StorageError) -> [UInt8]? {
      var record: [UInt8]?
      try swallow(.reading) { () throws(StorageError) in record = try faults.record(for: name) }
      return record
    }
    func set(_ record: [UInt8], for name: NameHash) throws(StorageError) {
      try swallow(.setting) { () throws(StorageError) in try faults.set(record, for: name) }
    }
    func setIfAbsent(_ record: [UInt8], for name: NameHash) throws(StorageError) -> Bool {
      var isSet = false
      try swallow(.settingIfAbsent) { () throws(StorageError) in
        isSet = try faults.setIfAbsent(record, for: name)
      }
      return isSet
    }
    func remove(_ name: NameHash) throws(StorageError) {
      try swallow(.removal) { () throws(StorageError) in try faults.remove(name) }
    }
  }

  private static func fail(_ faults: FaultyDelegate) -> () -> Void {
    faults.fail(.all, with: .failure(StorageError(.full, "on purpose")))
    return { faults.recover() }
  }

  @Test(arguments: DelegatePromise.whereThePlaceFails(of: FaultyDelegate.self))
  func aDelegateThatSaysWhatFailsKeepsIts(_ promise: DelegatePromise) throws {
    let delegate = FaultyDelegate()
    try promise.check(making: { delegate }, failing: { _ in Self.fail(delegate) })
  }

  @Test(arguments: SwallowingDelegate.Swallowed.allCases)
  private func aDelegateThatSwallowsAnErrorIsFoundOut(
    _ swallowed: SwallowingDelegate.Swallowed
  ) throws {
    var broken: [String] = []
    for promise in DelegatePromise.whereThePlaceFails(of: SwallowingDelegate.self) {
      let delegate = SwallowingDelegate(swallowed)
      do {
        try promise.check(making: { delegate }, failing: { _ in Self.fail(delegate.faults) })
      } catch is BrokenPromise {
        broken.append(promise.description)
      }
    }
    #expect(broken.count == 1, "\(broken)")
  }

  @Test func aPromiseAboutAPlaceThatFailsIsNotKeptWhereItDoesNotFail() throws {
    for promise in DelegatePromise.whereThePlaceFails(of: FaultyDelegate.self) {
      #expect(throws: BrokenPromise.self) { try promise.check { FaultyDelegate() } }
    }
  }
}

/// Sets if absent in two steps, each of which is sound, with a pause between them as a file or a
/// bus makes: without one, two threads of a busy machine seldom meet there.
private final class HastyDelegate: StorageDelegate {
  private let kept = Lock<[NameHash: [UInt8]]>([:])

  func record(for name: NameHash) throws(StorageError) -> [UInt8]? { kept.withLock { $0[name] } }
  func set(_ record: [UInt8], for name: NameHash) throws(StorageError) {
    kept.withLock { $0[name] = record }
  }
  func setIfAbsent(_ record: [UInt8], for name: NameHash) throws(StorageError) -> Bool {
    guard try self.record(for: name) == nil else { return false }
    usleep(100)
    try set(record, for: name)
    return true
  }
  func remove(_ name: NameHash) throws(StorageError) { kept.withLock { $0[name] = nil } }
}

/// Takes everything and keeps nothing.
private struct ForgetfulDelegate: StorageDelegate {
  func record(for name: NameHash) throws(StorageError) -> [UInt8]? { nil }
  func set(_ record: [UInt8], for name: NameHash) throws(StorageError) {}
  func setIfAbsent(_ record: [UInt8], for name: NameHash) throws(StorageError) -> Bool { true }
  func remove(_ name: NameHash) throws(StorageError) {}
}
