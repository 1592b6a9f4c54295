internal import StorageCore

/// A key file that a command makes if there is none.
struct NewKeyFile {
  private let path: String?
  /// Whether there was none.
  private let isNew: Bool
  private let folders: [String]

  /// Looks whether there is one at `path`; nil where the key is in no file.
  init(at path: String?, for place: VaultPlace) throws {
    self.path = path
    isNew = try path.map { try !Path.isThere($0) } ?? false
    folders = try place.missingFolders(path)
  }

  /// Runs `body`, which makes a vault with it, and says what is left where that failed.
  func making<Result>(
    _ output: Output, _ body: () throws -> Result
  ) throws -> Result {
    do {
      return try body()
    } catch {
      try noteLeftOver(output)
      throw error
    }
  }

  /// Says of a key file that was made for nothing, or for what is not known to have been done.
  func noteLeftOver(_ output: Output) throws {
    guard let path, isNew, try Path.isThere(path) else { return }
    output.note(
      "the key file \(path) was made before this failed; keep it until it is known that the vault "
        + "opens with another key")
  }

  /// Where it is, if it is what one of the slots is for: a source may have found its key elsewhere.
  func path(in slots: [KeySlot]) -> String? {
    path.flatMap { path in
      slots.contains { $0.kind == KeySlot.fileKind && $0.identifier == Path.name(of: path) }
        ? path : nil
    }
  }

  /// Says where the key is that was made, and which folders were, once the vault opens with it.
  func note(_ slots: [KeySlot], _ output: Output) {
    output.note(ofNew: folders)
    guard isNew, let path = path(in: slots) else { return }
    output.note(
      "made the key file \(path); without it the vault does not open, so copy it to a safe place")
  }

  /// The same for programs.
  func members(_ slots: [KeySlot]) -> [(String, JSONValue)] {
    let path = path(in: slots)
    return [
      ("folders", .array(folders.map { .string($0) })),
      ("keyFile", path.map { .string($0) } ?? .null), ("keyFileIsNew", .bool(path != nil && isNew)),
    ]
  }
}
