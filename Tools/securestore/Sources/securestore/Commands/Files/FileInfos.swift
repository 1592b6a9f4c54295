internal import FileBackend
internal import StorageCore

/// What the index says about all values, without reading them, as far as it can be read.
struct FileInfos {
  /// In the order of their names.
  let infos: [SealedFileInfo]
  /// The entries that can't be read.
  let leftOut: LeftOut

  init(of infos: [SealedFileInfo], leftOut: LeftOut) {
    (self.infos, self.leftOut) = (infos, leftOut)
  }

  /// Looks at all entries, and warns of each that can't be read.
  init(of folder: SealedFolder, _ output: Output) throws {
    let listing = try folder.listing()
    var (infos, leftOut) = ([SealedFileInfo](), LeftOut(unnamed: listing.unreadable))
    for name in listing.keys.sortedByBytes {
      do throws(StorageError) {
        if let info = try folder.info(named: name) { infos.append(info) }
      } catch {
        guard [.damaged, .unsupported, .typeMismatch].contains(error.code) else { throw error }
        leftOut.add(name, ExitStatus(error.code), error.message, output)
      }
    }
    self.init(of: infos, leftOut: leftOut)
  }

  /// Fails the command if some entries could not be read.
  func requireAll() throws {
    guard let status = leftOut.status else { return }
    throw Failure(
      status,
      "\(Printable.count(leftOut.count, "more value")) can't be read; \(leftOut.advice)")
  }
}
