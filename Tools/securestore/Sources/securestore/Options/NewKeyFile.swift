internal import StorageCore

/// A key file that a command creates if it does not exist.
struct NewKeyFile {
  private let path: String?
  /// Whether the key file did not exist before.
  private let isNew: Bool
  private let folders: [String]

  /// Looks whether the file at `path` exists; nil if the key is not in a file.
  init(at path: String?, for place: VaultPlace) throws {
    self.path = path
    isNew = try path.map { try !Path.isThere($0) } ?? false
    folders = try place.missingFolders(path)
  }

  /// Runs `body`, which creates a vault with the key file; if that fails, notes a key file left
  /// behind.
  func making<Result>(
    _ output: Output, _ body: () throws -> Result
  ) throws -> Result {
    do {
      guard let path else { return try body() }
      return try Path.makingFolders(of: path, body)
    } catch {
      try noteLeftOver(output)
      throw error
    }
  }

  /// Notes a key file that was created although the command failed or its outcome is unknown.
  func noteLeftOver(_ output: Output) throws {
    guard let path, isNew, try Path.isThere(path) else { return }
    output.note(
      "the key file \(path) was created before this failed; keep it until you know that the store "
        + "opens with another key")
  }

  /// The path, if one of the slots is for this file; the source may have found its key elsewhere.
  func path(in slots: [KeySlot]) -> String? {
    path.flatMap { path in
      slots.contains { $0.kind == KeySlot.fileKind && $0.identifier.isExactly(Path.name(of: path)) }
        ? path : nil
    }
  }

  /// Notes the key file and the folders that were created, once the vault opens with the key.
  func note(_ slots: [KeySlot], _ output: Output) {
    output.note(ofNew: folders)
    guard isNew, let path = path(in: slots) else { return }
    output.note(
      "created the key file \(path), which opens the values; copy it to a safe place")
  }

  /// Notes the key file that was created for all stores of an application.
  func noteMade(_ output: Output) throws {
    guard let path, isNew, try Path.isThere(path) else { return }
    output.note(
      "created the key file \(path); from now on the stores open with it alone, so keep it, and copy it to a "
        + "safe place")
  }

  /// The same facts as members of an answer.
  func json(_ slots: [KeySlot]) -> JSONValue {
    let path = path(in: slots)
    return ["folders": folders, "keyFile": path, "keyFileIsNew": path != nil && isNew]
  }
}
