internal import ArgumentParser
internal import Glibc
internal import VaultBackend

/// Returns the space of removed values to the file system.
struct CompactCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "compact", abstract: "Return the space of removed values to the file system.",
    discussion: "The file is rewritten in one step. Others can read meanwhile, but not write.")

  @OptionGroup(title: "Vault") var vault: VaultOptions
  @OptionGroup(title: "Key") var key: KeyOptions
  @OptionGroup(title: "Output") var output: OutputOptions

  func run() throws {
    let place = try vault.place()
    let storage = try place.open(key)
    // Compacting also rewrites the manifest, which authenticates the set of records and needs its
    // keys.
    try storage.open()
    let before = Self.size(place.path)
    try Progress.showing("compact", output.output) { _ in try storage.compact() }
    let after = Self.size(place.path)
    try output.output.done(
      "\(place.path): \(Printable.bytes(before)) before, \(Printable.bytes(after)) now",
      .object([
        ("path", .string(place.path)), ("before", .number("\(before)")),
        ("after", .number("\(after)")),
      ]))
  }

  private static func size(_ path: String) -> Int {
    var status = stat()
    return unsafe lstat(path, &status) == 0 ? Int(status.st_size) : 0
  }
}
