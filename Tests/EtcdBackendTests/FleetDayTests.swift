import EtcdBackend
import Foundation
import RemoteTesting
import StorageCore
import TestSupport
import Testing

// MARK: - The code of the page "A day with the fleet"

private struct Limits: Codable, Equatable {
  var requests = 100
  var burst = 10
}

/// The limits, whichever version has written them last.
private func limits(_ fleet: EtcdStorage) throws -> Limits {
  try fleet.transaction { transaction in
    var limits = try transaction.load(decodable: Limits.self, forKey: "limits") ?? Limits()
    if let requests = try transaction.load(Int.self, forKey: "limit") { limits.requests = requests }
    return limits
  }
}

/// Saves the limits for both versions, in one step.
private func save(_ limits: Limits, _ fleet: EtcdStorage) throws {
  try fleet.transaction { transaction in
    try transaction.save(encodable: limits, forKey: "limits")
    try transaction.save(limits.requests, forKey: "limit")
  }
}

/// Two versions of a program over one store, each with its own copy in memory.
struct FleetDayTests {
  private let first: EtcdStorage
  private let second: EtcdStorage

  init() throws {
    let cluster = try SharedCluster.one()
    let prefix = "/day/\(UUID())"
    // Another deadline is another connection, and another copy in memory.
    first = cluster.storage(prefix, deadline: .seconds(60))
    second = cluster.storage(prefix, deadline: .seconds(61))
    try first.create()
  }

  @Test func thePageShowsTheCodeThatIsCompiledHere() throws {
    #expect(try GuideCode("EtcdBackend/ADayWithTheFleet").blocks(missingIn: #filePath) == [])
  }

  @Test func bothVersionsSeeWhatTheOtherHasWritten() throws {
    let fleet = first
    @Live(fleet, "limit") var limit = 100
    #expect(try limits(second) == Limits(requests: 100, burst: 10))

    try first.save(200, forKey: "limit")
    #expect(try limits(second) == Limits(requests: 200, burst: 10))

    try save(Limits(requests: 300, burst: 20), second)
    #expect(soon { limit == 300 })

    try first.update(Int.self, forKey: "limit") { $0 = ($0 ?? 0) + 50 }
    #expect(try limits(second) == Limits(requests: 350, burst: 20))
  }

  @Test func aNewTypeUnderTheOldNameIsAnErrorOfTheOldVersion() throws {
    try first.save(200, forKey: "limit")
    try second.save(encodable: Limits(requests: 300, burst: 20), forKey: "limit")
    let fleet = first
    @Live(fleet, "limit") var limit = 100
    #expect(soon { code { _ = try first.load(Int.self, forKey: "limit") } == .typeMismatch })
    #expect(limit == 100)
    // And whoever updates it does not replace what can't be read.
    #expect(code { try first.update(Int.self, forKey: "limit") { $0 = 1 } } == .typeMismatch)
    #expect(
      try second.load(decodable: Limits.self, forKey: "limit") == Limits(requests: 300, burst: 20))
  }
}

/// Whether something comes true within half a minute.
private func soon(_ isTrue: () throws -> Bool) rethrows -> Bool {
  let end = ContinuousClock.now + .seconds(30)
  while try !isTrue() {
    guard ContinuousClock.now < end else { return false }
    Thread.sleep(forTimeInterval: 0.005)
  }
  return true
}
