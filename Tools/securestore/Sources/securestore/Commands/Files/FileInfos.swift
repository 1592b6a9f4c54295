internal import FileBackend
internal import StorageCore

/// What the index says about all values, without reading them, as far as it can be read.
struct FileInfos {
  /// In the order of their names.
  let infos: [SealedFileInfo]
  /// The names whose entry can't be read.
  let unreadable: [String]
  /// How many entries have a name that can't be read either.
  let unnamed: Int

  init(of infos: [SealedFileInfo], unreadable: [String], unnamed: Int) {
    (self.infos, self.unreadable, self.unnamed) = (infos, unreadable, unnamed)
  }

  /// Looks at all entries, and warns of each that can't be read.
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

  /// Fails the command if some entries could not be read.
  func requireAll() throws {
    let left = unreadable.count + unnamed
    guard left > 0 else { return }
    throw Failure(
      .damaged,
      "\(Printable.count(left, "more value")) can't be read; files verify says why, and files repair "
        + "--drop-unreadable removes them for good")
  }
}
