import Foundation
import Glibc
import Observation
import StorageCore
import Synchronization
import VaultBackend

/// The same session for all of the program.
private let globalSession = LiveCalls.Session()

/// Live properties, beside the least that an observable value in memory takes.
enum LiveCalls {
  struct Session: Sendable {
    @LiveVault var number: Int
    @LiveVault var text: String?
    @Vault var sealed: String?

    /// In a vault of its own: whoever follows one has each commit of it wake a thread, which the
    /// other rows are not to pay for.
    init() {
      let storage = VaultStorage(
        at: URL(filePath: Disk.folder + "/live.vault"),
        keySource: .key(SymmetricKey(data: [UInt8](repeating: 7, count: 32))))
      _number = LiveVault(wrappedValue: 0, storage, "live-number")
      _text = LiveVault(storage, "live-text")
      _sealed = Vault(storage, "live-sealed")
    }
  }

  /// The same properties in a class.
  final class Model {
    @LiveVault var number: Int
    @LiveVault var text: String?

    init(_ session: Session) { (_number, _text) = (session.$number, session.$text) }
  }

  struct WrongValue: Error {}

  /// A value behind a lock that is observed when it is read.
  private final class Plain<Value: Sendable>: Observable, Sendable {
    private let registrar = ObservationRegistrar()
    // Made once, since that takes longer than a read. A key path is never changed.
    private nonisolated(unsafe) let path: KeyPath<Plain, Value> = \.value
    private let lock: Mutex<Value>

    init(_ value: Value) { lock = Mutex(value) }

    var value: Value {
      unsafe registrar.access(self, keyPath: path)
      return lock.withLock { $0 }
    }
  }

  private static let text = String(repeating: "t", count: 32)

  static func comparisons() throws -> [Comparison] {
    let session = Session()
    session.number = 3
    session.text = text
    session.sealed = text
    return reads(session) + otherPlaces(Model(session)) + writes(session)
  }

  private static func reads(_ session: Session) -> [Comparison] {
    let (number, word) = (Plain(3), Plain(Optional(text)))
    let sealed = loop { session.sealed?.utf8.count ?? 0 }
    let read = loop { session.text?.utf8.count ?? 0 }
    return [
      Comparison(
        "@LiveVault Int: read", against: "access and a Mutex", in: .live, target: 1.5,
        allocationLimit: 0, floor: loop { number.value }, ours: loop { session.number }),
      Comparison(
        "@LiveVault String: read", against: "access and a Mutex", in: .live, target: 1.5,
        floor: loop { word.value?.utf8.count ?? 0 }, ours: read),
      Comparison(
        "@LiveVault String: read", against: "@Vault read", in: .live, floor: sealed, ours: read),
    ]
  }

  /// The same reads through a class and through a global: neither copies a structure.
  private static func otherPlaces(_ model: Model) -> [Comparison] {
    globalSession.number = 3
    globalSession.text = text
    let (number, word) = (Plain(3), Plain(Optional(text)))
    let (one, other) = (loop { number.value }, loop { word.value?.utf8.count ?? 0 })
    return [
      ("of a class", loop { model.number }, loop { model.text?.utf8.count ?? 0 }),
      ("of a global", loop { globalSession.number }, loop { globalSession.text?.utf8.count ?? 0 }),
    ].flatMap { place, readNumber, readText in
      [
        Comparison(
          "@LiveVault Int \(place): read", against: "access and a Mutex", in: .live,
          allocationLimit: 0, floor: one, ours: readNumber),
        Comparison(
          "@LiveVault String \(place): read", against: "access and a Mutex", in: .live,
          floor: other, ours: readText),
      ]
    }
  }

  private static func writes(_ session: Session) -> [Comparison] {
    // Two values in turn: one that is there already would be no change.
    let values = ["a", "b"].map { String(repeating: $0, count: 32) }
    return [
      Comparison(
        "@LiveVault String: durable write", against: "@Vault write", in: .live, target: 1.05,
        clock: .wall, batch: 5e6,
        floor: { rounds in for round in 0..<rounds { session.sealed = values[round & 1] } },
        ours: { rounds in for round in 0..<rounds { session.text = values[round & 1] } })
    ]
  }

  /// The same loop around each call, into which the call is not inlined on either side.
  private static func loop(_ body: @escaping () -> Int) -> (Int) throws -> Void {
    { rounds in
      var sum = 0
      for _ in 0..<rounds { sum &+= body() }
      guard sum > 0 else { throw WrongValue() }
    }
  }

  /// What the resident size grows by for each of many properties of one storage that were read.
  static func memory() throws -> Figure {
    let count = 20_000
    let storage = Session().$number.storage
    func make(_ index: Int) -> Live<Int, VaultStorage> {
      Live(wrappedValue: index, storage, "one of many \(index)")
    }
    let first = make(count)
    guard first.wrappedValue == count else { throw WrongValue() }
    let before = try residentSize()
    let properties = (0..<count).map(make)
    for (index, property) in properties.enumerated() {
      guard property.wrappedValue == index else { throw WrongValue() }
    }
    let growth = try residentSize() - before
    withExtendedLifetime((properties, first)) {}
    return Figure(
      name: "live: memory of a property, of 20,000", value: Double(growth) / Double(count),
      unit: "bytes", limit: nil)
  }

  /// In bytes.
  private static func residentSize() throws -> Int {
    let status = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
    let words = status.split(separator: " ")
    guard words.count > 1, let pages = Int(words[1]) else { throw WrongValue() }
    return pages * sysconf(Int32(_SC_PAGESIZE))
  }
}
