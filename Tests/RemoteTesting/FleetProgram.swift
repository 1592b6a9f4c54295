internal import CryptoCore
internal import Foundation
package import RemoteBackend
internal import StorageCore
internal import TestSupport

/// One write(2), so that what was acknowledged is known whatever happens next.
private func say(_ line: String) {
  let bytes = Array((line + "\n").utf8)
  _ = unsafe bytes.withUnsafeBytes { unsafe write(STDOUT_FILENO, $0.baseAddress, $0.count) }
}

/// A program for the tests of a fleet: to be killed, stopped, and cut off.
package struct FleetProgram {
  private let storage: RemoteStorage
  private let exact: RemoteStorage

  /// A program over a storage, and one of the same store that asks the engine at each read.
  package init(_ storage: RemoteStorage, exact: RemoteStorage) {
    (self.storage, self.exact) = (storage, exact)
  }

  /// Runs one command, to its end.
  package func run(_ command: [String]) {
    switch command[0] {
    case "serve":  // performs each line of its standard input, and answers in one
      while let line = readLine() {
        say(answer(line.split(separator: " ").map(String.init)))
      }
    case "work":  // NAME SEED OPERATIONS KEYS: says when each operation began, and how it ended
      work(
        command[1], seed: UInt64(command[2])!, operations: Int(command[3])!, keys: Int(command[4])!)
    case "count":  // TIMES: adds one so often, and says how often that was acknowledged and unknown
      count(Int(command[1])!)
    case "rotate":  // until it is killed or has ended
      say(rotate())
    default: fatalError("no such command")
    }
  }

  /// What a line of `serve` gives, or the code of its error.
  private func answer(_ command: [String]) -> String {
    do throws(StorageError) {
      switch command[0] {
      case "save": try storage.save(command[2], forKey: command[1])
      case "load": return try storage.load(String.self, forKey: command[1]) ?? "nil"
      case "load-exact": return try exact.load(String.self, forKey: command[1]) ?? "nil"
      case "remove": try storage.delete(forKey: command[1])
      case "swap": return try swap(command[1], command[2], if: command[3])
      case "seen":  // KEY VALUE: when it was seen, in nanoseconds of the machine's clock
        while try storage.load(String.self, forKey: command[1]) != command[2] { usleep(200) }
        return "\(Self.now)"
      case "state":
        switch storage.state {
        case .unused: return "unused"
        case .current: return "current"
        case .away(let error, _, _): return "away \(error.code)"
        case .unkept(let error, _, _): return "unkept \(error.code)"
        }
      default: return "error no such command"
      }
      return "done"
    } catch {
      return "error \(error.code)"
    }
  }

  private struct Mismatch: Error {
    let seen: String
  }

  /// Puts a value in place of another, in a transaction that throws where it finds a third one.
  private func swap(
    _ key: String, _ new: String, if old: String
  ) throws(StorageError) -> String {
    do {
      try storage.transaction { transaction in
        let seen = try transaction.load(String.self, forKey: key) ?? "nil"
        guard seen == old else { throw Mismatch(seen: seen) }
        try transaction.save(new, forKey: key)
      }
      return "done"
    } catch let error as StorageError {
      throw error
    } catch {
      return "found \((error as? Mismatch)?.seen ?? "?")"
    }
  }

  /// Nanoseconds of the clock that all processes of a machine share.
  private static var now: UInt64 { DispatchTime.now().uptimeNanoseconds }

  /// Reads, writes and removes at random.
  ///
  /// Each operation is two lines: `begin NUMBER TIME OPERATION KEY VALUE OLD` and
  /// `end NUMBER TIME RESULT`.
  private func work(_ name: String, seed: UInt64, operations: Int, keys: Int) {
    var random = SeededRandom(seed)
    for number in 0..<operations {
      let key = "k\(Int(random.next() % UInt64(keys)))"
      let value = "\(name).\(number)"
      let kind = random.next() % 10
      let command: [String] =
        switch kind {
        case 0..<3: ["save", key, value]
        case 3: ["remove", key]
        // What memory has, which may be behind: then the comparison must fail.
        case 4, 5: ["swap", key, value, answer(["load", key])]
        default: ["load-exact", key]
        }
      say("begin \(number) \(Self.now) \(command[0]) \(key) \(value) \(command.last!)")
      let result = answer(command)
      say("end \(number) \(Self.now) \(result)")
    }
  }

  /// Makes a new data key, and seals everything again with it.
  private func rotate() -> String {
    say("begun")
    do throws(StorageError) {
      let report = try storage.keyAdministration.rotateDataKey()
      return "rotated \(report.reencrypted)"
    } catch {
      return "error \(error.code)"
    }
  }

  /// Adds one to a number again and again.
  private func count(_ times: Int) {
    var (acknowledged, unknown) = (0, 0)
    while acknowledged < times {
      do {
        try storage.update(Int.self, forKey: "n") { $0 = ($0 ?? 0) + 1 }
        acknowledged += 1
      } catch {
        // After any other error nothing was done.
        if (error as? StorageError)?.code == .outcomeUnknown { unknown += 1 }
      }
    }
    say("counted \(acknowledged) \(unknown)")
  }
}
