import DefaultsBackend
import Foundation
import Glibc
import SingletonBackend
import StorageCore
import VaultBackend

/// How much more two threads read than one, in wall time: that takes two cores that nobody else
/// wants.
enum Scaling {
  private static let text = String(repeating: "t", count: 32)

  /// Reads of one key and of two keys in each place, beside a bare EVP loop, which is the ceiling.
  static func reads() throws -> [Figure] {
    let key = KeySource.key(SymmetricKey(data: [UInt8](repeating: 7, count: 32)))
    let folder = URL(filePath: Disk.folder)
    return try [bare()]
      + place("vault", VaultStorage(at: folder.appending(path: "scaling.vault"), keySource: key))
      + place("singleton", SingletonStorage())
      + place("suite", UserDefaultsStorage(suiteName: "scaling", keySource: key))
  }

  private static func place(_ name: String, _ storage: some Storage) throws -> [Figure] {
    let (first, second) = (Store<String, _>(storage, "first"), Store<String, _>(storage, "second"))
    try first.save(text)
    try second.save(text)
    let readFirst: Body = { first.wrappedValue?.utf8.count ?? 0 }
    let readSecond: Body = { second.wrappedValue?.utf8.count ?? 0 }
    return [
      figure("two threads read one key: \(name)", [readFirst, readFirst]),
      figure("two threads read two keys: \(name)", [readFirst, readSecond]),
    ]
  }

  /// Each thread has contexts of its own.
  private static func bare() throws -> Figure {
    let bodies = try (0..<2).map { _ -> Body in
      let cipher = Owned(try BareCipher(count: text.utf8.count))
      return {
        do { try cipher.value.openUnchecked() } catch { return 0 }
        return 1
      }
    }
    return figure("two threads open: bare EVP, the ceiling", least: nil, bodies)
  }

  typealias Body = @Sendable () -> Int

  /// What one thread uses alone.
  private final class Owned<Value>: @unchecked Sendable {
    let value: Value
    init(_ value: Value) { self.value = value }
  }

  /// How many times as much two threads do as one, by the median of 25 rounds.
  static func figure(_ name: String, least: Double? = 1.7, _ bodies: [Body]) -> Figure {
    // A quick call needs more rounds, or the time in which a thread wakes counts for too much.
    let rounds = Int(max(200_000, 50e6 / (time([bodies[0]], 20_000) / 20_000)))
    var ratios: [Double] = []
    for _ in 0..<25 { ratios.append(time(bodies, rounds) / time([bodies[0]], rounds)) }
    // Half the time for each read is twice the throughput.
    return Figure(name: name, value: 2 / ratios.median, unit: "times", limit: nil, least: least)
  }

  /// Nanoseconds until each thread has made its calls, as many for each.
  private static func time(_ bodies: [Body], _ rounds: Int) -> Double {
    let group = DispatchGroup()
    let go = DispatchSemaphore(value: 0)
    for body in bodies {
      group.enter()
      Thread.detachNewThread {
        go.wait()
        var sum = 0
        for _ in 0..<rounds { sum &+= body() }
        precondition(sum > 0)
        group.leave()
      }
    }
    usleep(1_000)
    let start = Clock.wall.nanoseconds
    for _ in bodies { go.signal() }
    group.wait()
    return Clock.wall.nanoseconds - start
  }
}
