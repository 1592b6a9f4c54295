internal import StorageCore

/// A key file that a command makes if there is none.
struct NewKeyFile {
  /// Where it is to be, if a key file is what the key is in.
  let path: String?
  /// Whether there is none yet.
  let isNew: Bool

  /// Looks whether there is one at `path`.
  init(at path: String?) throws {
    self.path = path
    isNew = try path.map { try !Path.isThere($0) } ?? false
  }

  /// Runs `body`, which may make it, and says so where `body` failed afterwards.
  func making<Result>(_ output: Output, _ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch {
      if let path, isNew, try Path.isThere(path) {
        output.note("the key file \(path) was made before this failed; nothing is sealed under it")
      }
      throw error
    }
  }

  /// Says where the key is, once the vault opens with it.
  func note(_ output: Output) {
    guard let path, isNew else { return }
    output.note(
      "made the key file \(path); without it the vault does not open, so copy it to a safe place")
  }
}
