internal import Foundation
internal import RemoteBackend
internal import StorageCore

/// How far a machine's clock may be ahead of this one, in seconds.
private let clockTolerance = 60.0

// What doctor says of a store that machines share.
extension SharedStore {
  /// What the engine says, whether the store opens, and what its machines have said.
  func findings(_ key: KeyOptions, mayUseKeyring: Bool) throws -> [Finding] {
    var findings = try engineFindings()
    findings.append(.opening("store", path) { try open(key).listing() })
    var machines: [RemoteMachine] = []
    // The finding above says why the store does not open.
    do { machines = try open(key).machines() } catch {}
    return findings + machines.map(Self.finding)
  }

  private static func finding(_ machine: RemoteMachine) -> Finding {
    let slots = machine.slots.sorted().map { "\($0)" }.joined(separator: ", ")
    let time = Date(timeIntervalSince1970: Double(machine.time)).formatted(.iso8601)
    let ahead = Double(machine.time) - Date().timeIntervalSince1970
    guard !slots.isEmpty else {
      return Finding(
        "machine \(machine.name)", .absent,
        "has acknowledged none of the slots that are left; run slots acknowledge there")
    }
    let said =
      "opened \(machine.slots.count == 1 ? "slot" : "slots") \(slots) at \(time) by its clock"
    guard ahead < clockTolerance else {
      return Finding(
        "machine \(machine.name)", .bad,
        "\(said), which is \(Int(ahead)) s ahead of this machine's")
    }
    return Finding("machine \(machine.name)", .good, said)
  }
}
