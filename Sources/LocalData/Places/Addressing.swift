internal import StorageCore

/// Finds the place of a declared key's value under a configuration.
struct Addressing: Sendable {
  let locations: Locations
  let storage: StorageConfiguration
  let files: FileStorageConfiguration
  /// Where the values of the domain `keychain` are; already decided.
  let keychain: PlaceAddress.Kind

  /// The address of a key.
  ///
  /// - Parameters:
  ///   - name: its name.
  ///   - domain: its domain.
  ///   - isPlain: whether the key declares that the value is stored in plaintext.
  ///   - isOfDevice: whether the keychain must bind the value to this machine.
  /// - Returns: the address.
  /// - Throws: `invalidAppGroupIdentifier`, `invalid` for a name that can't name a file, or an
  ///   error if there is no folder for such data.
  func address(
    of name: String, in domain: StorageDomain, isPlain: Bool, isOfDevice: Bool = false
  ) throws(StorageError) -> PlaceAddress {
    switch domain.kind {
    case .userDefaults(let suite): return try settings(name, suite, isPlain)
    case .keychain(let service):
      let kind = isOfDevice && keychain == .keyring ? .deviceKeyring : keychain
      return PlaceAddress(kind: kind, container: try self.service(service), name: name)
    case .appGroupUserDefaults(let id):
      let group = try GroupContainer(id, storage, locations)
      return PlaceAddress(
        kind: .plainSuite, container: group.path + "/defaults.plist", name: name,
        groupRoot: group.root)
    case .fileSystem(let directory): return try file(name, folder(directory), directory)
    case .encryptedFileSystem(let directory):
      let path = try folder(directory)
      return PlaceAddress(
        kind: .sealedFolder, container: path + "/.sealed", name: name,
        isPurgeable: directory == .caches)
    case .appGroupFileSystem(let id, let directory):
      let group = try GroupContainer(id, storage, locations)
      var address = try file(name, folder(directory, in: group), directory)
      address.groupRoot = group.root
      return address
    }
  }

  private func settings(
    _ name: String, _ suite: String?, _ isPlain: Bool
  ) throws(StorageError) -> PlaceAddress {
    let suite = if let suite { suite } else { try locations.suite() }
    guard (1...200).contains(suite.utf8.count), !suite.contains("/"), suite != ".", suite != ".."
    else { throw StorageError(.invalid, "a suite must have 1 to 200 bytes and no slash") }
    guard isPlain else {
      return PlaceAddress(kind: .sealedSuite, container: suite, name: name)
    }
    let path = try locations.configuration() + "/" + suite + ".plain.plist"
    return PlaceAddress(kind: .plainSuite, container: path, name: name)
  }

  private func service(_ declared: String?) throws(StorageError) -> String {
    let named = declared ?? storage.defaultKeychainService
    let service = if let named { named } else { try locations.application() }
    try KeyName.check(service, "a service")
    return service
  }

  private func file(
    _ name: String, _ folder: String, _ directory: FileDirectory
  ) throws(StorageError) -> PlaceAddress {
    _ = try FileName.encode(name)
    return PlaceAddress(
      kind: .file, container: folder, name: name, isPurgeable: directory == .caches)
  }

  private func folder(_ directory: FileDirectory) throws(StorageError) -> String {
    switch directory {
    case .documents: (try locations.data()) + "/Documents" + (try subfolder())
    case .caches: (try locations.caches()) + (try subfolder())
    case .custom(let url): try PathText.absolute(url)
    }
  }

  private func folder(
    _ directory: FileDirectory, in group: GroupContainer
  ) throws(StorageError) -> String {
    switch directory {
    case .documents: group.path + "/Documents" + (try subfolder())
    case .caches: group.path + "/Caches" + (try subfolder())
    case .custom:
      throw StorageError(
        .unsupported, "a group's files can only be in its documents or its caches")
    }
  }

  private func subfolder() throws(StorageError) -> String {
    guard let name = files.subDirectory else { return "" }
    guard (1...200).contains(name.utf8.count), !name.contains("/"), !name.hasPrefix(".") else {
      throw StorageError(
        .invalid, "a subDirectory must have 1 to 200 bytes, no slash and no dot at its start")
    }
    return "/" + name
  }
}

/// Checks names that programs choose.
enum KeyName {
  /// Refuses a name that is empty, too long, or has control characters.
  static func check(_ name: String, _ subject: String) throws(StorageError) {
    guard (1...200).contains(name.utf8.count), !name.utf8.contains(where: { $0 < 32 || $0 == 127 })
    else {
      throw StorageError(
        .invalid, "the name of \(subject) must have 1 to 200 bytes and no control characters")
    }
  }
}
