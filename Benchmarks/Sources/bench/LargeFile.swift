import FileBackend
import Foundation
import Glibc

/// One large file through a sealed folder, beside the bare cipher and the programs that people use
/// for it.
///
/// Wall time, on warm files; what is written is durable before the clock stops.
enum LargeFile {
  private static let size = 1 << 30
  private static let segment = 65_536
  private static let rounds = 3

  struct Failed: Error {
    let what: String
    init(_ what: String) { self.what = what }
  }

  private static var base: String { Disk.folder + "/large" }
  private static var source: String { base + "/source" }

  static func figures() throws -> [Figure] {
    try FileManager.default.createDirectory(
      atPath: base, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    defer { try? FileManager.default.removeItem(atPath: base) }
    try makeSource()
    let ours = try medians(of: Ours())
    let floor = try medians(of: Floor())
    var figures = [
      Figure(
        name: "1 GiB: sealed folder, write", value: floor.write / ours.write,
        unit: "of EVP's rate (\(rate(ours.write)))", limit: nil, least: 0.9,
        nanoseconds: ours.write),
      Figure(
        name: "1 GiB: sealed folder, read", value: floor.read / ours.read,
        unit: "of EVP's rate (\(rate(ours.read)))", limit: nil, least: 0.9,
        nanoseconds: ours.read),
    ]
    for peer in try peers() {
      let times = try medians(of: peer)
      figures += [
        Figure(
          name: "1 GiB: \(peer.name), write", value: floor.write / times.write,
          unit: "of EVP's rate (\(rate(times.write)))", limit: nil, nanoseconds: times.write),
        Figure(
          name: "1 GiB: \(peer.name), read", value: floor.read / times.read,
          unit: "of EVP's rate (\(rate(times.read)))", limit: nil, nanoseconds: times.read),
      ]
    }
    let helper = try Helper.start(["--large-file", base + "/memory"])
    let said = try helper.output.fileHandleForReading.readToEnd() ?? Data()
    helper.process.waitUntilExit()
    let answer = String(decoding: said, as: UTF8.self).trimmingCharacters(in: .newlines)
    guard let growth = Double(answer) else { throw Failed("the memory of 2 GiB") }
    figures.append(
      Figure(
        name: "2 GiB: sealed folder, resident memory", value: growth / 1024, unit: "MiB more",
        limit: 16))
    return figures
  }

  /// What the resident size of this process grows by, in KiB, while 2 GiB are put into a folder and
  /// got.
  static func growth(in path: String) throws -> Int {
    let folder = folder(path)
    try folder.write(Data(repeating: 1, count: 100_000), named: "warm")
    let before = try peak()
    let chunk = Data(repeating: 5, count: segment)
    let count = (2 << 30) / segment
    let writer = try folder.writer(named: "large")
    for _ in 0..<count { try writer.write(chunk) }
    try writer.commit()
    var length = 0
    try folder.reader(named: "large")?.withChunks { length += $0.byteCount }
    guard length == count * segment else { throw Failed("reading 2 GiB") }
    return try peak() - before
  }

  /// The largest resident size so far, in KiB.
  private static func peak() throws -> Int {
    let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
    guard let words = line?.split(separator: " "), words.count > 1, let size = Int(words[1]) else {
      throw Failed("VmHWM")
    }
    return size
  }

  // MARK: - Measuring

  fileprivate struct Times {
    var write: Double
    var read: Double
  }

  private static func medians(of way: some Way) throws -> Times {
    var writes: [Double] = []
    var reads: [Double] = []
    for _ in 0..<rounds {
      try way.clear()
      let start = Clock.wall.nanoseconds
      try way.write()
      writes.append(Clock.wall.nanoseconds - start)
      try way.forget()
      let middle = Clock.wall.nanoseconds
      try way.read()
      reads.append(Clock.wall.nanoseconds - middle)
    }
    try way.clear()
    way.end()
    return Times(write: writes.median, read: reads.median)
  }

  private static func rate(_ nanoseconds: Double) -> String {
    shown(Double(size) / 1e6 / (nanoseconds / 1e9), 0) + " MB/s"
  }

  private static func makeSource() throws {
    var generator = SystemRandomNumberGenerator()
    let part = Data((0..<1 << 20).map { _ in UInt8.random(in: 0...255, using: &generator) })
    FileManager.default.createFile(atPath: source, contents: nil)
    let file = try FileHandle(forWritingTo: URL(filePath: source))
    for _ in 0..<size / part.count { try file.write(contentsOf: part) }
    try file.synchronize()
    try file.close()
  }

  // MARK: - The ways

  fileprivate protocol Way {
    var name: String { get }
    /// Stores the source durably.
    func write() throws
    /// Forgets what is in memory in the clear.
    func forget() throws
    /// Reads it back, all of it.
    func read() throws
    /// Removes what was stored.
    func clear() throws
    func end()
  }

  private static func folder(_ path: String) -> SealedFolder {
    SealedFolder(
      at: URL(filePath: path, directoryHint: .isDirectory),
      keySource: .key(SymmetricKey(data: [UInt8](repeating: 7, count: 32))))
  }

  private struct Ours: Way {
    let name = "sealed folder"
    let folder = LargeFile.folder(LargeFile.base + "/folder")

    func write() throws { try folder.write(contentsOf: URL(filePath: source), named: "large") }

    func read() throws {
      var count = 0
      try folder.reader(named: "large")?.withChunks { count += $0.byteCount }
      guard count == size else { throw Failed(name) }
    }

    func forget() {}
    func clear() throws { try folder.remove("large") }
    func end() {}
  }

  /// The same reads and writes, and the cipher in a bare loop.
  private final class Floor: Way {
    let name = "EVP"
    private let cipher: BareCipher
    private var bytes = [UInt8](repeating: 5, count: 65_552)
    private let path = LargeFile.base + "/bare"

    init() throws { cipher = try BareCipher(count: segment) }

    func write() throws {
      let input = unsafe open(source, O_RDONLY)
      let output = unsafe open(path, O_RDWR | O_CREAT | O_TRUNC, 0o600)
      defer {
        close(input)
        close(output)
      }
      for _ in 0..<size / segment {
        guard unsafe Glibc.read(input, &bytes, segment) == segment else { throw Failed(name) }
        try cipher.seal(1)
        guard unsafe Glibc.write(output, bytes, bytes.count) == bytes.count else {
          throw Failed(name)
        }
      }
      guard fsync(output) == 0 else { throw Failed(name) }
    }

    func read() throws {
      let input = unsafe open(path, O_RDONLY)
      defer { close(input) }
      for _ in 0..<size / segment {
        guard unsafe Glibc.read(input, &bytes, bytes.count) == bytes.count else {
          throw Failed(name)
        }
        try cipher.openUnchecked()
      }
    }

    func forget() {}
    func clear() throws { unlink(path) }
    func end() {}
  }

  /// A program, by shell commands in which `$source` is the file and `$base` a folder.
  private struct Program: Way {
    let name: String
    let writing: String
    let reading: String
    let clearing: String
    var forgetting = "true"
    var ending = "true"

    func write() throws { try run(writing) }
    func read() throws { try run(reading) }
    func forget() throws { try run(forgetting) }
    func clear() throws { try run(clearing) }
    func end() { try? run(ending) }

    func run(_ command: String) throws {
      guard LargeFile.run(command) else { throw Failed(name) }
    }
  }

  private static func run(_ command: String) -> Bool {
    let process = Process()
    process.executableURL = URL(filePath: "/bin/sh")
    process.arguments = ["-c", command]
    process.environment = ProcessInfo.processInfo.environment.merging(
      ["base": base, "source": source]) { $1 }
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    do { try process.run() } catch { return false }
    process.waitUntilExit()
    return process.terminationStatus == 0
  }

  /// Those that are installed.
  private static func peers() throws -> [Program] {
    var peers: [Program] = []
    if run("command -v age && age-keygen -o $base/key") {
      peers.append(
        Program(
          name: "age",
          writing: "age -e -i $base/key -o $base/out.age $source && sync $base/out.age",
          reading: "age -d -i $base/key -o /dev/null $base/out.age",
          clearing: "rm -f $base/out.age"))
    }
    if run("command -v openssl && head -c 32 /dev/urandom | base64 > $base/pass") {
      peers.append(
        Program(
          name: "openssl enc, which authenticates nothing",
          writing: "openssl enc -aes-256-ctr -pbkdf2 -pass file:$base/pass -in $source "
            + "-out $base/out.enc && sync $base/out.enc",
          reading: "openssl enc -d -aes-256-ctr -pbkdf2 -pass file:$base/pass -in $base/out.enc "
            + "-out /dev/null",
          clearing: "rm -f $base/out.enc"))
    }
    let mount = "gocryptfs -q -passfile $base/pass $base/cipher $base/plain"
    let make =
      "mkdir $base/cipher $base/plain && gocryptfs -q -init -passfile $base/pass $base/cipher"
    if run(make + " && " + mount) {
      peers.append(
        Program(
          name: "gocryptfs",
          writing: "cp $source $base/plain/file && sync $base/plain/file",
          reading: "cat $base/plain/file > /dev/null",
          clearing: "rm -f $base/plain/file", forgetting: "fusermount -u $base/plain && " + mount,
          ending: "fusermount -u $base/plain"))
    }
    return peers
  }
}
