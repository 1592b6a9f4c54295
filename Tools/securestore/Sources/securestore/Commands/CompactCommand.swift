internal import ArgumentParser
internal import FileBackend
internal import Glibc
internal import VaultBackend

/// Returns the space of removed values to the file system.
struct CompactCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "compact", abstract: "Return the space of removed values to the file system.",
    discussion: """
      The vault, or the index of a sealed folder, is rewritten in one step. Others can read meanwhile, but \
      not write.
      """)

  @OptionGroup(title: "Store") var store: StoreOptions
  @OptionGroup(title: "Key") var key: KeyOptions
  @OptionGroup(title: "Output") var output: OutputOptions

  func run() throws { try store.place().compact(self) }

  /// Compacts a vault by `body`, and says what that saved.
  fileprivate func compact(_ path: String, _ file: String, _ body: () throws -> Void) throws {
    let before = Self.size(file)
    try Progress.showing("compact", output.output) { _ in try body() }
    let after = Self.size(file)
    try output.output.done(
      "\(path): \(Printable.bytes(before)) before, \(Printable.bytes(after)) now",
      ["path": path, "before": before, "after": after])
  }

  private static func size(_ path: String) -> Int {
    var status = stat()
    return unsafe lstat(path, &status) == 0 ? Int(status.st_size) : 0
  }
}

extension VaultPlace {
  func compact(_ command: CompactCommand) throws {
    let storage = try open(command.key)
    // Compacting also rewrites the manifest, which authenticates the set of records and needs its
    // keys.
    try storage.open()
    try command.compact(path, path) { try storage.compact() }
  }
}

extension FolderPlace {
  func compact(_ command: CompactCommand) throws {
    let folder = try open(command.key)
    try command.compact(path, index.path) { try folder.compact() }
  }
}
