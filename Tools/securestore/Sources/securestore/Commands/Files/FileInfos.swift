internal import FileBackend
internal import StorageCore

/// What is known of all values without reading them, as far as the index can be read.
struct FileInfos {
  /// In the order of their names.
  let infos: [SealedFileInfo]
  /// The names whose entry can't be read.
  let unreadable: [String]
  /// How many entries there are whose name can't be read either.
  let unnamed: Int

  init(of infos: [SealedFileInfo], unreadable: [String], unnamed: Int) {
    (self.infos, self.unreadable, self.unnamed) = (infos, unreadable, unnamed)
  }

  /// Looks at all entries, and warns of those that can't be read.
  init(of folder: SealedFolder, _ output: Output) throws {
    let listing = try folder.listing()
    var (infos, unreadable): ([SealedFileInfo], [String]) = ([], [])
    for name in listing.keys.sorted(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) }) {
      do throws(StorageError) {
        if let info = try folder.info(named: name) { infos.append(info) }
      } catch {
        guard [.damaged, .unsupported, .typeMismatch].contains(error.code) else { throw error }
        unreadable.append(name)
        output.warn(ExitStatus(error.code), "\(name): \(error.message)")
      }
    }
    self.init(of: infos, unreadable: unreadable, unnamed: listing.unreadable)
  }

  /// Ends the command as one that could not tell of all.
  func requireAll() throws {
    let left = unreadable.count + unnamed
    guard left > 0 else { return }
    throw Failure(
      .damaged,
      "\(Printable.count(left, "more value")) can't be read; files verify says what is wrong, and files repair "
        + "--drop-unreadable removes them for good")
  }
}
