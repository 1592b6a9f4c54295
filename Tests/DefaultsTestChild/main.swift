import CryptoCore
import DefaultsBackend
import Dispatch
import Foundation
import StorageCore
import StorageFoundation
import TestSupport

// A process of its own for the tests: to be killed, to share a suite with, to run as somebody else.
// DefaultsTestChild COMMAND FOLDER [ARGUMENT...]

/// One write(2), so that what was acknowledged is known whatever happens next.
func say(_ line: String) {
  let bytes = Array((line + "\n").utf8)
  _ = unsafe bytes.withUnsafeBytes { unsafe write(STDOUT_FILENO, $0.baseAddress, $0.count) }
}

func name(_ index: Int) -> NameHash {
  var bytes = [UInt8](repeating: 0, count: NameHash.byteCount)
  for position in 0..<8 { bytes[position] = UInt8(truncatingIfNeeded: index >> (8 * position)) }
  return NameHash(bytes)!
}

func record(_ index: Int) -> [UInt8] {
  (0..<8).map { UInt8(truncatingIfNeeded: index >> (8 * $0)) } + Array(repeating: 7, count: 100)
}

let arguments = CommandLine.arguments
guard arguments.count >= 3 else { fatalError("usage: DefaultsTestChild COMMAND FOLDER ...") }
let folder = arguments[2]

func number(_ position: Int) -> Int { Int(arguments[position])! }

func delegate(
  _ durability: DefaultsDurability = .immediate, trust: Int64 = DefaultsDelegate.standardTrust
) -> DefaultsDelegate {
  DefaultsDelegate(
    folder: folder, suiteName: "suite", durability: durability, deadline: .seconds(300),
    trust: trust)
}

/// How long a look at the file counts for the delegate, where that is said.
func trust(_ position: Int) -> Int64 {
  arguments.count > position ? Int64(number(position)) : DefaultsDelegate.standardTrust
}

func storage(_ delegate: DefaultsDelegate = delegate()) -> UserDefaultsStorage {
  let key = SymmetricKey(data: Data(repeating: 5, count: 32))
  return UserDefaultsStorage(delegate, keySource: .key(key))
}

/// Puts plain values into UserDefaults, and moves them.
func migrate() {
  let plain = UserDefaults(suiteName: "plain")!
  let storage = storage()
  let keys = ["text", "number", "flag", "ratio", "bytes", "list", "table", "taken", "missing"]
  plain.set("secret", forKey: "text")
  plain.set(42, forKey: "number")
  plain.set(true, forKey: "flag")
  plain.set(0.5, forKey: "ratio")
  plain.set(Data([1, 2]), forKey: "bytes")
  plain.set(["a", "b"], forKey: "list")
  plain.set(["one": 1], forKey: "table")
  plain.set("theirs", forKey: "taken")
  plain.set("stays", forKey: "other")
  _ = plain.synchronize()
  answer {
    try storage.save("ours", forKey: "taken")
    // As an interrupted migration leaves it: in both places.
    try storage.save("secret", forKey: "text")
    let result = try storage.migrate(from: plain, keys: keys)
    say("moved \(result.moved.joined(separator: " "))")
    say("conflicting \(result.conflicting.joined(separator: " "))")
    say("absent \(result.absent.joined(separator: " "))")
    let (text, taken) = (storage.string(forKey: "text"), storage.string(forKey: "taken"))
    say("values \(text ?? "nil") \(taken ?? "nil") \(storage.integer(forKey: "number"))")
    say("\(storage.bool(forKey: "flag")) \(storage.double(forKey: "ratio"))")
    say("\(storage.data(forKey: "bytes").map { Array($0) } ?? [])")
    say("\(storage.stringArray(forKey: "list") ?? [])")
    let table: [String: Int]? = storage.value(forKey: "table")
    say("\(table ?? [:])")
    let left = UserDefaults(suiteName: "plain")!
    return "left \((keys + ["other"]).filter { left.object(forKey: $0) != nil })"
  }
}

/// Says what `body` says, or the code of its error.
func answer(_ body: () throws -> String) {
  do {
    say(try body())
  } catch let error as StorageError {
    say("error \(error.code)")
  } catch {
    say("error \(error)")
  }
}

switch arguments[1] {
case "write-on":  // FIRST [TRUST]: sets 40 names in turn until it is killed
  let delegate = delegate(trust: trust(4))
  var index = number(3)
  say("ready")
  while true {
    try delegate.set(record(index), for: name(index % 40))
    say("\(index)")
    index += 1
  }
case "discard":
  try storage().discard()
  say("discarded")
case "fill":  // FIRST COUNT THREADS
  let delegate = delegate()
  let (first, count, threads) = (number(3), number(4), number(5))
  let failures = Lock(0)
  let done = DispatchGroup()
  for thread in 0..<threads {
    done.enter()
    // Threads and not tasks of a queue, which runs no more at once than there are cores.
    Thread.detachNewThread {
      for index in stride(from: first + thread, to: first + count, by: threads) {
        do {
          try delegate.set(record(index), for: name(index))
        } catch {
          say("error \(error)")
          failures.withLock { $0 += 1 }
        }
      }
      done.leave()
    }
  }
  done.wait()
  say("failures \(failures.withLock { $0 })")
case "set":  // INDEX VALUE
  answer {
    try delegate().set(record(number(4)), for: name(number(3)))
    return "set"
  }
case "get":  // INDEX [TRUST]
  answer {
    try delegate(trust: trust(4)).record(for: name(number(3))).map { "\($0[0])" } ?? "nil"
  }
case "header":  // BYTE
  answer {
    let byte = UInt8(number(3))
    _ = try delegate().updateHeader { header, _ in header = [byte] }
    return "header"
  }
case "set-large":  // until the disk is full
  answer {
    let delegate = delegate()
    for index in 0..<1000 {
      try delegate.set(Array(repeating: 9, count: 10_000), for: name(index))
      say("\(index)")
    }
    return "not full"
  }
case "count":
  answer { "\(try delegate().names().count)" }
case "check-unsynchronized":  // a condition that fails
  answer {
    let delegate = delegate(.unsynchronized)
    try delegate.set(record(0), for: name(0))
    return "\(try delegate.setIfAbsent(record(1), for: name(0)))"
  }
case "set-unsynchronized":  // COUNT; then it is killed
  answer {
    let delegate = delegate(.unsynchronized)
    for index in 0..<number(3) { try delegate.set(record(index), for: name(index)) }
    return "set"
  }
  kill(getpid(), SIGKILL)
case "save":  // KEY VALUE
  answer {
    try storage().save(arguments[4], forKey: arguments[3])
    return "saved"
  }

case "save-with-key-file":  // PATH
  answer {
    let source = KeySource.file(URL(fileURLWithPath: arguments[3]))
    try UserDefaultsStorage(delegate(), keySource: source).save("value", forKey: "key")
    return "saved"
  }
case "count-up":  // KEY TIMES
  answer {
    let storage = storage()
    for _ in 0..<number(4) {
      try storage.update(Int.self, forKey: arguments[3]) { $0 = ($0 ?? 0) + 1 }
    }
    return "counted"
  }
case "transfer":  // TIMES: moves amounts between four accounts; 0 is until it is killed
  answer {
    let storage = storage()
    var step = 0
    while number(3) == 0 || step < number(3) {
      step += 1
      let (from, to) = ("account\(step % 4)", "account\((step * 3 + 1) % 4)")
      try storage.transaction { transaction in
        try transaction.update(Int.self, forKey: from) { $0 = ($0 ?? 0) - step }
        try transaction.update(Int.self, forKey: to) { $0 = ($0 ?? 0) + step }
      }
      if number(3) == 0 { say("\(step)") }
    }
    return "transferred"
  }
case "public":  // SUITE: by the public initialiser, in the folder of the environment
  answer {
    let key = SymmetricKey(data: Data(repeating: 5, count: 32))
    let storage = UserDefaultsStorage(suiteName: arguments[3], keySource: .key(key))
    try storage.save("value", forKey: "key")
    return try storage.load(String.self, forKey: "key") ?? "nil"
  }
case "standard":
  SecureStorage.bootstrap(applicationID: arguments[3])
  answer {
    try UserDefaultsStorage.standard.save("value", forKey: "key")
    return try UserDefaultsStorage(authenticationTag: nil).load(String.self, forKey: "key") ?? "nil"
  }
case "user-defaults":  // SUITE: what Foundation reads
  let defaults = UserDefaults(suiteName: arguments[3])
  for (key, value) in defaults?.dictionaryRepresentation() ?? [:] {
    if let data = value as? Data, key.utf8.count == 128 || key == "SecurePropertyStorage" {
      say("\(key) \(Array(data))")
    }
  }
case "migrate":  // with XDG_CONFIG_HOME at FOLDER
  migrate()
default: fatalError("unknown command \(arguments[1])")
}
