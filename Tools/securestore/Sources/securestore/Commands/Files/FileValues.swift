internal import ArgumentParser
internal import FileBackend
internal import Foundation
internal import Glibc
internal import StorageCore

/// Stores a file or piped input.
struct PutFileCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "put", abstract: "Store a file, or standard input, under a name.",
    discussion: """
      An existing value is replaced at the end, completely or not at all. Standard input of no bytes is \
      refused unless --empty is given: the command before the pipe may have failed. put can't see that a \
      command failed later; then use set -o pipefail and put the value under a new name, which replaces the \
      old one only if the whole line succeeds (dump | securestore files put db.new && securestore files \
      rename db.new db --replace).
      """)

  @Argument(help: "The name.") var name: String
  @Argument(help: "The file; default: standard input.", completion: .file())
  var file: String?

  @Flag(
    name: [.customLong("empty"), .customLong("allow-empty")],
    help: "Accept standard input of no bytes.")
  var allowsEmpty = false

  @OptionGroup(title: "Store") var store: StoreOptions
  @OptionGroup(title: "Key") var key: KeyOptions
  @OptionGroup(title: "Output") var output: OutputOptions

  func run() throws {
    try ValueName.requireNoValue(in: name)
    let folder = try store.sealedFolder().open(key)
    guard file != nil || isatty(STDIN_FILENO) == 0 else {
      throw Failure(.usage, "name a file, or send the value through a pipe")
    }
    let path = try file.map { try Path.absolute($0) }
    guard try path.map({ try Path.isThere($0) }) ?? true else {
      throw Failure(.noInput, "the file does not exist", path: path)
    }
    try Progress.showing("put", output.output) { progress in
      guard let path else {
        return try FileCopy.store(
          STDIN_FILENO, in: folder, named: name, allowingEmpty: allowsEmpty, progress)
      }
      try folder.write(contentsOf: URL(fileURLWithPath: path, isDirectory: false), named: name) {
        progress($0, $1 ?? 0)
      }
    }
    let size = try folder.info(named: name)?.size ?? 0
    try output.output.done(
      "stored \(name), \(Printable.bytes(size))", ["name": name, "bytes": size])
  }
}

/// Writes a value to standard output or to a file.
struct GetFileCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "get", abstract: "Write a value, or a part of it, to standard output or a file.",
    discussion: """
      Every byte is authenticated before it is written. If a part of the value is damaged, standard \
      output gets only the bytes before it, and the exit code is 12. The file of --to is created only \
      when the whole value was read. Exits with 1 if the value does not exist.
      """)

  @Argument(help: "The name.") var name: String

  @Option(help: ArgumentHelp("A new file to write to.", valueName: "file"), completion: .file())
  var to: String?
  @Option(help: ArgumentHelp("The first byte to write.", valueName: "byte")) var offset = 0
  @Option(help: ArgumentHelp("How many bytes to write at most.", valueName: "bytes"))
  var length: Int?

  @OptionGroup(title: "Store") var store: StoreOptions
  @OptionGroup(title: "Key") var key: KeyOptions
  @OptionGroup(title: "Output") var output: OutputOptions

  func validate() throws {
    guard offset >= 0, length ?? 0 >= 0 else {
      throw ValidationError("--offset and --length are 0 or more")
    }
  }

  func run() throws {
    let folder = try store.sealedFolder().open(key, .readOnly)
    guard let reader = try folder.reader(named: name) else {
      throw ValueName.absent(name, of: folder.names)
    }
    let start = min(offset, reader.size)
    let range = start..<start + min(length ?? reader.size, reader.size - start)
    if let to {
      let path = try Path.absolute(to)
      try FileCopy.make(path) { descriptor in
        try write(reader, range, descriptor, path)
      }
      return try output.output.done(
        "wrote \(Printable.bytes(range.count)) to \(to)",
        ["name": name, "path": path, "bytes": range.count])
    }
    guard !Output.isTerminal else {
      throw Failure(.usage, "send the value to a pipe or a file, or give --to", key: name)
    }
    try write(reader, range, STDOUT_FILENO, nil)
  }

  private func write(
    _ reader: SealedFileReader, _ range: Range<Int>, _ descriptor: Int32, _ path: String?
  ) throws {
    try Progress.showing("get", output.output) { progress in
      try FileCopy.write(reader, range, descriptor, path) { progress($0, range.count) }
    }
  }
}

/// Lists the names.
struct ListFilesCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List the names of all values, in order.",
    discussion: """
      If names or sizes can't be read, because an entry of the index is damaged, the others are listed, \
      the unreadable entries are named or counted, and the exit code is 12.
      """)

  @Flag(name: [.customLong("long"), .customShort("l")], help: "Also show sizes.")
  var isLong = false
  @Flag(
    name: [.customLong("null"), .customShort("0")],
    help: "End each name with a zero byte instead of a line break.")
  var endsWithZero = false

  @OptionGroup(title: "Store") var store: StoreOptions
  @OptionGroup(title: "Key") var key: KeyOptions
  @OptionGroup(title: "Output") var output: OutputOptions

  func validate() throws {
    guard !(isLong && endsWithZero) else {
      throw ValidationError("give --long or --null, not both")
    }
  }

  func run() throws {
    let folder = try store.sealedFolder().open(key, .readOnly)
    guard output.isJSON || isLong else {
      let listing = try folder.listing()
      try Output.write(names: listing.keys.sortedByBytes, endingWithZero: endsWithZero)
      return try FileInfos(of: [], leftOut: LeftOut(unnamed: listing.unreadable)).requireAll()
    }
    let infos = try FileInfos(of: folder, output.output)
    if output.isJSON {
      let values = infos.infos.map { ["name": $0.name, "bytes": $0.size] as JSONValue }
      try output.output.json([
        "values": values, "unreadable": infos.leftOut.names, "unnamed": infos.leftOut.unnamed,
      ])
    } else {
      let rows = infos.infos.map { [Printable.line($0.name), Printable.bytes($0.size)] }
      try Output.write(table: rows)
    }
    try infos.requireAll()
  }
}

/// Gives a value another name.
struct RenameFileCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rename", abstract: "Give a value another name.",
    discussion: "Exits with 1 if the value does not exist, and with 3 if the new name has a value.")

  @Argument(help: "The name.") var name: String
  @Argument(help: "The new name.") var newName: String

  @Flag(name: .customLong("replace"), help: "Replace an existing value.") var replaces = false

  @OptionGroup(title: "Store") var store: StoreOptions
  @OptionGroup(title: "Key") var key: KeyOptions
  @OptionGroup(title: "Output") var output: OutputOptions

  func run() throws {
    try ValueName.requireNoValue(in: newName)
    let folder = try store.sealedFolder().open(key)
    let isThere = try folder.transaction { transaction in
      guard try transaction.contains(name) else { return false }
      guard try replaces || name.isExactly(newName) || !transaction.contains(newName) else {
        throw Failure(.exists, "this name already has a value; --replace replaces it", key: newName)
      }
      return try transaction.rename(name, to: newName)
    }
    guard isThere else { throw ValueName.absent(name, of: folder.names) }
    try output.output.done(
      "renamed \(name) to \(newName)", ["name": newName, "oldName": name])
  }
}

/// Removes values.
struct RemoveFilesCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove", abstract: "Remove values, all of them in one step.",
    discussion: """
      If one of the values does not exist, none is removed and the exit code is 1. With --force, \
      absent values are ignored.
      """)

  @Argument(help: "The names of the values.") var names: [String]

  @Flag(name: [.customLong("force"), .customShort("f")], help: "Ignore absent values.")
  var isForced = false

  @OptionGroup(title: "Store") var store: StoreOptions
  @OptionGroup(title: "Key") var key: KeyOptions
  @OptionGroup(title: "Output") var output: OutputOptions

  func run() throws {
    let folder = try store.sealedFolder().open(key)
    let removed = try folder.transaction { transaction in
      var removed: [String] = []
      for name in names.withoutRepetition {
        guard try transaction.contains(name) else {
          guard isForced else { throw ValueName.absent(name, of: folder.names) }
          continue
        }
        try transaction.remove(name)
        removed.append(name)
      }
      return removed
    }
    try output.output.done(
      removed.isEmpty ? "nothing to remove" : "removed \(removed.joined(separator: ", "))",
      ["removed": removed])
  }
}

/// Writes all values to files.
struct ExportFilesCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export", abstract: "Write all values, unsealed, to files of a new folder.",
    discussion: """
      Each file has the name of its value. A slash, a percent sign and control characters become % and \
      two hexadecimal digits. A value that can't be read, or whose name is too long for a file, is left \
      out and named; the exit code is that of the reason: 12 if a value is damaged, 64 for the name.
      """)

  @Argument(help: "The new folder.", completion: .directory) var target: String

  @OptionGroup(title: "Store") var store: StoreOptions
  @OptionGroup(title: "Key") var key: KeyOptions
  @OptionGroup(title: "Output") var output: OutputOptions

  func run() throws {
    let folder = try store.sealedFolder().open(key, .readOnly)
    let target = try Path.absolute(target)
    if let occupation = Path.occupation(of: target) { throw occupation }
    try Path.requireMaking(target)
    let all = try FileInfos(of: folder, output.output)
    var (infos, leftOut) = (all.infos, all.leftOut)
    let total = infos.reduce(0) { $0 + $1.size }
    guard unsafe mkdir(target, 0o700) == 0 else {
      throw Failure(system: "make the folder", path: target, number: errno)
    }
    var count = 0
    try Progress.showing("export", output.output) { progress in
      var done = 0
      for info in infos {
        do {
          guard let reader = try folder.reader(named: info.name) else { continue }
          let path = target + "/" + Self.fileName(of: info.name)
          try FileCopy.make(path, inNewFolder: true) { descriptor in
            try FileCopy.write(reader, 0..<reader.size, descriptor, path) {
              progress(done + $0, total)
            }
          }
          count += 1
        } catch let error as StorageError where error.code != .cancelled {
          leftOut.add(info.name, ExitStatus(error.code), error.message, output.output)
        } catch let failure as Failure where failure.number == Int(ENAMETOOLONG) {
          leftOut.add(
            info.name, failure.status, "the name is too long for a file", output.output)
        }
        done += info.size
      }
    }
    try output.output.done(
      "wrote \(Printable.count(count, "value")) to \(target)",
      [
        "path": target, "values": count,
        "failed": leftOut.names.sortedByBytes,
        "unnamed": leftOut.unnamed,
      ])
    guard let status = leftOut.status else { return }
    throw Failure(
      status,
      "\(Printable.count(leftOut.count, "value")) of the folder could not be written"
        + (leftOut.unnamed == 0 ? "" : ", \(leftOut.unnamed) of them without a readable name")
        + "; files get --to writes a single value under a name of your choice"
        + (status == .damaged ? ", and files verify says what is wrong" : ""))
  }

  /// The file name for a value's name.
  static func fileName(of name: String) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    let isDots = name == "." || name == ".."
    let bytes = name.utf8.flatMap { byte -> [UInt8] in
      let isPlain =
        byte >= 32 && byte != 127 && byte != UInt8(ascii: "/") && byte != UInt8(ascii: "%")
      guard !isPlain || isDots else { return [byte] }
      return [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
