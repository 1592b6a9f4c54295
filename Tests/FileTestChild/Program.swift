import FileBackend
import Foundation
import TestSupport

/// One write(2), so that what was acknowledged is known whatever happens next.
func say(_ line: String) {
  let bytes = Array((line + "\n").utf8)
  _ = unsafe bytes.withUnsafeBytes { unsafe write(STDOUT_FILENO, $0.baseAddress, $0.count) }
}

/// The commands, on the sealed folder at a path.
struct Program {
  let path: String
  let folder: SealedFolder

  init(path: String) {
    self.path = path
    folder = Self.folder(path, 7)
  }

  private static func folder(_ path: String, _ key: UInt8) -> SealedFolder {
    SealedFolder(
      at: URL(fileURLWithPath: path, isDirectory: true),
      keySource: .key(SymmetricKey(data: Data(repeating: key, count: 32))), deadline: .seconds(300))
  }

  /// A value that says its own length and number: `number` as 8 bytes, again and again.
  static func value(_ number: Int, _ length: Int) -> Data {
    let word = unsafe withUnsafeBytes(of: UInt64(number)) { unsafe Array($0) }
    return Data((0..<length).map { word[$0 % 8] })
  }

  /// The number of a value that is whole, or nil.
  static func number(of value: Data) -> Int? {
    guard value.count >= 8 else { return nil }
    let number = value.prefix(8).reversed().reduce(0) { $0 << 8 | Int($1) }
    return self.value(number, value.count) == value ? number : nil
  }

  /// What a command gives, or the code of its error.
  func answer(_ command: [String]) -> String {
    do {
      return try perform(command)
    } catch let error as StorageError {
      return "error \(error.code)"
    } catch {
      return "error \(error)"
    }
  }

  private func perform(_ command: [String]) throws -> String {
    let rest = Array(command.dropFirst())
    switch command[0] {
    case "write":  // NAME NUMBER LENGTH
      try folder.write(Self.value(Int(rest[1])!, Int(rest[2])!), named: rest[0])
      return "written"
    case "replace-on":  // NAME NUMBER LENGTH TIMES
      for _ in 0..<Int(rest[3])! {
        try folder.write(Self.value(Int(rest[1])!, Int(rest[2])!), named: rest[0])
      }
      return "replaced"
    case "read":  // NAME: its number and length
      guard let value = try folder.read(named: rest[0]) else { return "nil" }
      return "\(Self.number(of: value) ?? -1) \(value.count)"
    case "remove":  // NAME
      try folder.remove(rest[0])
      return "removed"
    case "rename":  // NAME NAME
      return try folder.rename(rest[0], to: rest[1]) ? "renamed" : "nil"
    case "copy":  // NAME NAME
      return try folder.copy(rest[0], to: rest[1]) ? "copied" : "nil"
    case "rename-on":  // NAME NAME: to the other name and back, until it is killed
      say("ready")
      while true {
        try folder.rename(rest[0], to: rest[1])
        usleep(3_000)  // without its marker
        try folder.rename(rest[1], to: rest[0])
        usleep(3_000)
      }

    case "names": return try folder.names().sorted().joined(separator: " ")
    case "state":  // each name with the number and length of its value, in lines
      for name in try folder.names().sorted() {
        let value = try folder.read(named: name) ?? Data()
        say("\(name) \(Self.number(of: value) ?? -1) \(value.count)")
      }
      let report = try folder.verify()
      return "\(report.isSound) \(report.blobCount)"
    case "shut-down":  // the file system, as without power
      return Machine.shutDownFileSystem(of: path)
    case "memory":  // LENGTH: how far writing and reading that much raises the peak, in KiB
      return try memory(Int(rest[0])!)
    case "memory-of-file": return try memory(ofFile: Int(rest[0])!)
    case "hold-writer":  // NAME NUMBER LENGTH: waits before the end for its standard input
      let writer = try folder.writer(named: rest[0])
      try writer.write(Self.value(Int(rest[1])!, Int(rest[2])!))
      say("inside")
      _ = readLine()
      try writer.commit()
      return "written"
    case "fork-writer": return try forkWithWriter()
    default: fatalError("unknown command \(command)")
    }
  }

  // MARK: - fork(2)

  /// Children use a handle of the parent in several ways, and the parent goes on with it.
  private func forkWithWriter() throws -> String {
    ForkedChild.prepare()
    let value = Self.value(3, 600_000)
    var writer: SealedFileWriter? = try folder.writer(named: "key")
    try writer!.write(value.prefix(400_000))
    var answers = ""
    let uses: [(String, (SealedFileWriter) throws -> Void)] = [
      ("write", { try $0.write(value.prefix(10)) }), ("commit", { try $0.commit() }),
      ("abandon", { $0.abandon() }), ("release", { _ in }),
    ]
    for (name, use) in uses {
      let (outcome, _) = ForkedChild.run(deadline: 120) { _ in
        var code: StorageError.Code?
        do { try use(writer!) } catch { code = (error as? StorageError)?.code }
        writer = nil
        return code == .unavailable ? 10 : code == nil ? 0 : 1
      }
      answers += "\(name) \(outcome); "
    }
    let kept = try FileManager.default.contentsOfDirectory(atPath: path + "/pending").count
    try writer!.write(value.dropFirst(400_000))
    try writer!.commit()
    return answers + "\(kept) " + answer(["read", "key"]) + " \(try folder.verify().isSound)"
  }

  // MARK: - Memory

  private func memory(_ length: Int) throws -> String {
    // What the first use of everything takes is not the value's.
    try folder.write(Self.value(1, 1_000_000), named: "warm")
    _ = try folder.read(named: "warm")
    let before = try ProcessStatus.peak()
    let chunk = Self.value(5, 1 << 20)
    let writer = try folder.writer(named: "long")
    while writer.size < length { try writer.write(chunk) }
    try writer.commit()
    var count = 0
    try folder.reader(named: "long")!.withChunks { count += $0.byteCount }
    guard count == length else { return "length \(count)" }
    return "\(try ProcessStatus.peak() - before)"
  }

  private func memory(ofFile length: Int) throws -> String {
    try folder.write(Self.value(1, 1_000_000), named: "warm")
    _ = try folder.read(named: "warm")
    let source = path + ".source"
    let descriptor = unsafe open(source, O_WRONLY | O_CREAT, 0o600)
    defer { unsafe unlink(source) }
    guard descriptor >= 0, ftruncate(descriptor, off_t(length)) == 0, close(descriptor) == 0 else {
      return "no source"
    }
    let before = try ProcessStatus.peak()
    try folder.write(contentsOf: URL(fileURLWithPath: source), named: "long")
    var count = 0
    try folder.reader(named: "long")!.withChunks { count += $0.byteCount }
    guard count == length else { return "length \(count)" }
    return "\(try ProcessStatus.peak() - before)"
  }

  // MARK: - Until killed

  /// The names are in turn, the lengths of all kinds; each line says what was done.
  func writeOn(_ writer: Int, seed: UInt64) {
    say("ready")
    var random = seed
    let lengths = [10, 16_384, 16_385, 70_000, 200_000]
    for number in 1... {
      random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      let name = "writer\(writer)-\(random >> 33 & 3)"
      let length = lengths[Int(random >> 40) % lengths.count]
      let command: [String] =
        switch random >> 50 & 7 {
        case 0: ["remove", name]
        case 1: ["rename", name, "writer\(writer)-\(random >> 36 & 3)"]
        default: ["write", name, "\(number)", "\(length)"]
        }
      say(command.joined(separator: " "))
      say("= " + answer(command))
    }
  }
}

/// proc(5): what the kernel counts of this process.
enum ProcessStatus {
  /// VmHWM, "peak resident set size", in KiB.
  static func peak() throws -> Int {
    let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
    return line?.split(separator: " ").compactMap { Int($0) }.first ?? -1
  }
}
