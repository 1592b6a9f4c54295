import CryptoCore
import Dispatch
import Foundation
import StorageCore
import TestSupport
import VaultBackend

/// One write(2), so that what was acknowledged is known whatever happens next.
func say(_ line: String) {
  let bytes = Array((line + "\n").utf8)
  _ = unsafe bytes.withUnsafeBytes { unsafe write(STDOUT_FILENO, $0.baseAddress, $0.count) }
}

/// The commands, on the vault at a path.
struct Program {
  let path: String
  let storage: VaultStorage

  init(path: String, access: StoreAccess) {
    self.path = path
    storage = Self.storage(path, 7, access)
  }

  private static func key(_ byte: UInt8) -> KeySource {
    .key(SymmetricKey(data: Data(repeating: byte, count: 32)))
  }

  private static func storage(
    _ path: String, _ key: UInt8 = 7, _ access: StoreAccess = .readWrite,
    _ deadline: Duration = .seconds(300)
  ) -> VaultStorage {
    VaultStorage(
      at: URL(fileURLWithPath: path), keySource: Self.key(key), access: access, deadline: deadline)
  }

  /// What a command gives, or the code of its error.
  func answer(_ command: [String]) -> String {
    do {
      return try perform(command)
    } catch let error as StorageError {
      // Space is missing for what is written.
      let isOdd = error.code == .full && error.message.contains("could not read")
      return "error \(error.code)" + (isOdd ? ", said of a read" : "")
    } catch {
      return "error \(error)"
    }
  }

  private func perform(_ command: [String]) throws -> String {
    let rest = Array(command.dropFirst())
    if let answer = try account(command[0], rest) ?? live(command[0], rest) { return answer }
    switch command[0] {
    case "save":  // KEY VALUE
      try storage.save(rest[1], forKey: rest[0])
      return "saved"
    case "save-timed":  // KEY VALUE: when it was acknowledged
      try storage.save(Int(rest[1])!, forKey: rest[0])
      return "\(DispatchTime.now().uptimeNanoseconds)"
    case "load":  // KEY [KEY-BYTE]
      let storage = rest.count > 1 ? Self.storage(path, UInt8(rest[1])!) : storage
      return try storage.load(String.self, forKey: rest[0]) ?? "nil"
    case "load-read-only":  // KEY
      let storage = Self.storage(path, 7, .readOnly)
      return try storage.load(String.self, forKey: rest[0]) ?? "nil"
    case "load-data":  // KEY: how many bytes there are
      return "\(try storage.load(Data.self, forKey: rest[0])?.count ?? -1)"
    case "peak":  // COMMAND ARGUMENT...: what it gives, and the most memory there was, in KiB
      return "\(answer(rest)) \(try peak())"
    case "make-empty":  // a vault without a header yet, as a kill leaves it
      _ = try VaultDelegate(at: URL(fileURLWithPath: path)).commit([], headerVersion: .max)
      return "made"
    case "save-read-only":  // KEY VALUE
      try Self.storage(path, 7, .readOnly).save(rest[1], forKey: rest[0])
      return "saved"
    case "save-within":  // MILLISECONDS KEY VALUE
      let storage = Self.storage(path, 7, .readWrite, .milliseconds(Int(rest[0])!))
      try storage.save(rest[2], forKey: rest[1])
      return "saved"
    case "save-with":  // KEY-BYTE KEY VALUE
      try Self.storage(path, UInt8(rest[0])!).save(rest[2], forKey: rest[1])
      return "saved"
    case "save-if-absent":  // KEY VALUE
      return try storage.saveIfAbsent(rest[1], forKey: rest[0]) ? "saved" : "there"
    case "keys": return try storage.keys().sorted().joined(separator: " ")
    case "remove-all":
      try storage.removeAll()
      return "removed"
    case "discard":
      try storage.discard()
      return "discarded"
    case "discard-lost":  // KEY-FILE, which is gone
      let storage = VaultStorage(
        at: URL(fileURLWithPath: path), keySource: .file(URL(fileURLWithPath: rest[0])))
      try storage.discard()
      return "discarded"
    case "delete":  // KEY
      try storage.delete(forKey: rest[0])
      return "deleted"

    case "fill":  // COUNT BYTES
      let value = Data(repeating: 9, count: Int(rest[1])!)
      for index in 0..<Int(rest[0])! { try storage.save(value, forKey: "fill-\(index)") }
      return "filled"
    case "write-large":  // WRITER ROUNDS: eight keys in turn, each read back
      for round in 0..<Int(rest[1])! {
        let key = "writer \(rest[0]) key \(round % 8)"
        let value = Data(repeating: UInt8(truncatingIfNeeded: round), count: 150_000)
        try storage.save(value, forKey: key)
        guard round % 5 == 0 else { continue }
        let found = try Self.storage(path, 7, .readOnly).load(Data.self, forKey: key)
        guard found == value else { return "lost \(key)" }
      }
      return "written"
    case "count-up":  // KEY TIMES
      for _ in 0..<Int(rest[1])! {
        try storage.update(Int.self, forKey: rest[0]) { $0 = ($0 ?? 0) + 1 }
      }
      return "counted"
    case "save-threads":  // THREADS TIMES
      return try saveOnThreads(Int(rest[0])!, Int(rest[1])!)
    default: return try administer(command[0], rest)
    }
  }

  private func administer(_ command: String, _ rest: [String]) throws -> String {
    switch command {
    case "rotate":  // same|KEY-BYTE names|data
      _ = try storage.keyAdministration.rotate(
        openedBy: UInt8(rest[0]).map { Self.key($0) }, names: rest[1] == "names")
      return "rotated"
    case "rotate-data-key":
      _ = try storage.keyAdministration.rotateDataKey()
      return "rotated"
    case "change":  // KEY-BYTE
      try storage.keyAdministration.change(to: Self.key(UInt8(rest[0])!))
      return "changed"
    case "remove-slot":  // NUMBER
      try storage.keyAdministration.remove(UInt32(rest[0])!)
      return "removed"

    case "add":  // KEY-BYTE
      try storage.keyAdministration.add(Self.key(UInt8(rest[0])!))
      return "added"
    case "backup":  // PATH
      try storage.backup(to: URL(fileURLWithPath: rest[0]), replacing: true)
      return "copied"
    case "restore":  // PATH
      try storage.restore(from: URL(fileURLWithPath: rest[0]))
      return "restored"
    case "compact":
      try storage.compact()
      return "compacted"
    case "verify":
      let report = try storage.verify()
      return report.isSound ? "sound \(report.recordCount)" : "\(report.findings)"
    case "hold":  // lets nobody else write until its standard input goes on
      return try hold()

    case "let-go":  // KEY: closes the file, and reads
      try storage.letGo()
      return try perform(["load", rest[0]])
    case "fork":
      return try fork()
    case "fork-transaction":
      return try forkInTransaction()
    case "check":  // FILE: of lines that a `write-on` said
      return try check(rest[0])
    case "shut-down":  // the file system of PATH, as without power
      return Machine.shutDownFileSystem(of: path)
    default: fatalError("unknown command \(command)")
    }
  }

  /// proc(5): VmHWM, "peak resident set size".
  private func peak() throws -> Int {
    let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
    return line?.split(separator: " ").compactMap { Int($0) }.first ?? -1
  }

  // MARK: - Writing until killed

  func writeOn(_ writer: Int, from first: Int) {
    say("ready")
    for index in first... {
      do throws(StorageError) {
        try storage.save(index, forKey: "writer \(writer) key \(index % 10)")
        say("\(index)")
      } catch {
        say("error \(error)")
        // Whoever kills it needs some time.
        sleep(1)
      }
    }
  }

  /// Compares what a `write-on` said with what is there.
  private func check(_ file: String) throws -> String {
    let lines = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n")
    guard let last = lines.compactMap({ Int($0) }).last else { return "nothing" }
    for index in max(0, last - 9)...last {
      let found = try storage.load(Int.self, forKey: "writer 0 key \(index % 10)")
      guard found == index || found == last + 1 && index % 10 == (last + 1) % 10 else {
        return "lost \(index) of \(last): \(found.map { "\($0)" } ?? "nil")"
      }
    }
    let report = try storage.verify()
    let next = try storage.load(Int.self, forKey: "writer 0 key \((last + 1) % 10)")
    return report.isSound ? "\(next == last + 1 ? last + 2 : last + 1)" : "\(report.findings)"
  }

  private func saveOnThreads(_ threads: Int, _ times: Int) throws -> String {
    try storage.save(0, forKey: "thread")
    let failures = Lock(0)
    Threads.run(threads) { thread in
      for index in 0..<times {
        do throws(StorageError) {
          try storage.save(index, forKey: "thread \(thread)")
        } catch {
          failures.withLock { $0 += 1 }
        }
      }
    }
    return "failures \(failures.withLock { $0 })"
  }

  // MARK: - Standing in the way

  private func hold() throws -> String {
    let delegate = VaultDelegate(at: URL(fileURLWithPath: path))
    _ = try delegate.updateHeader { _, _ in
      say("inside")
      _ = readLine()
    }
    return "outside"
  }

  private func fork() throws -> String {
    ForkedChild.prepare()
    try storage.save("before", forKey: "key")
    _ = try storage.load(String.self, forKey: "key")
    var answers = ""
    let commands = [
      ["load", "key"], ["load", "absent"], ["save", "key", "child"], ["verify"], ["let-go", "key"],
      ["discard"],
    ]
    for command in commands {
      let (outcome, output) = ForkedChild.run(deadline: 120) { descriptor in
        let text = Array(answer(command).utf8)
        return unsafe text.withUnsafeBytes { unsafe ForkedChild.write($0, to: descriptor) } ? 0 : 1
      }
      answers += "\(String(decoding: output, as: UTF8.self)) \(outcome); "
    }
    try storage.save("after", forKey: "key")
    return answers + answer(["verify"]) + " " + answer(["load", "key"])
  }

  /// A child goes on in the transaction in which its parent was at the fork, and so does the
  /// parent.
  private func forkInTransaction() throws -> String {
    ForkedChild.prepare()
    try storage.save("before", forKey: "key")
    var child: Int32 = -1
    var inside: StorageError.Code?
    do {
      try storage.transaction { transaction in
        try transaction.save("parent", forKey: "key")
        child = ForkedChild.split()
        guard child == 0 else { return }
        do {
          try transaction.delete(forKey: "key")
        } catch {
          inside = (error as? StorageError)?.code
        }
      }
    } catch {
      guard child == 0 else { throw error }
      _exit(inside == .unavailable && (error as? StorageError)?.code == .unavailable ? 10 : 1)
    }
    guard child > 0 else { _exit(2) }
    let outcome = ForkedChild.outcome(of: child, deadline: 120)
    return "\(outcome) " + answer(["load", "key"]) + " " + answer(["verify"])
  }

  // MARK: - Disks

  /// Fills the disk to the last block, and frees it again.
  func fillTheDisk() {
    for index in 0..<10 { say(answer(["save", "key-\(index)", "value-\(index)"])) }
    let filler = URL(fileURLWithPath: path).deletingLastPathComponent().path + "/filler"
    let descriptor = unsafe open(filler, O_WRONLY | O_CREAT, 0o600)
    var size = 1 << 20
    while size > 0 {
      let bytes = [UInt8](repeating: 0, count: size)
      if unsafe write(descriptor, bytes, size) <= 0 { size /= 2 }
    }
    close(descriptor)
    for index in 0..<10 { say(answer(["load", "key-\(index)"])) }
    say(answer(["verify"]))
    // Until what the log has left over is used up.
    var saved = "value-3"
    var said = "saved"
    for index in 0..<1000 where said == "saved" {
      said = answer(["save", "key-3", "full-\(index)"])
      if said == "saved" { saved = "full-\(index)" }
    }
    say(said)
    say(answer(["load", "key-3"]) == saved ? "newest" : "not the newest")
    say(answer(["load", "key-4"]))
    say(answer(["backup", path + ".copy"]))
    say(answer(["compact"]))
    let again = try? HelperProgram("VaultTestChild").run("load", path, "key-5")
    say(again?.first ?? "died")
    unsafe unlink(filler)
    say(answer(["save", "key-3", "after"]))
    say(answer(["load", "key-3"]))
    say(answer(["verify"]))
  }
}
