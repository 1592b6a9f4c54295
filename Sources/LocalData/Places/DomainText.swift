internal import FoundationEssentials

/// A declared domain in a form that can be stored.
struct DomainText: Codable, Equatable, Sendable {
  private enum Kind: String, Codable {
    case userDefaults, appGroupUserDefaults, keychain
    case fileSystem, encryptedFileSystem, appGroupFileSystem
  }
  private var kind: Kind
  /// The suite, the group or the service.
  private var owner: String?
  /// `documents` or `caches`, or the path of another folder.
  private var directory: String?

  /// Creates the form of a domain.
  init(_ domain: StorageDomain) {
    switch domain.kind {
    case .userDefaults(let suite): (kind, owner) = (.userDefaults, suite)
    case .appGroupUserDefaults(let id): (kind, owner) = (.appGroupUserDefaults, id)
    case .keychain(let service): (kind, owner) = (.keychain, service)
    case .fileSystem(let directory):
      (kind, self.directory) = (.fileSystem, directory.description)
    case .encryptedFileSystem(let directory):
      (kind, self.directory) = (.encryptedFileSystem, directory.description)
    case .appGroupFileSystem(let id, let directory):
      (kind, owner, self.directory) = (.appGroupFileSystem, id, directory.description)
    }
  }

  /// Whether a folder that is named by its path has an absolute one, as every key's folder has.
  var isPossible: Bool {
    guard let directory, !["documents", "caches"].contains(directory) else { return true }
    return directory.hasPrefix("/")
  }

  /// The domain.
  var domain: StorageDomain {
    switch kind {
    case .userDefaults: .userDefaults(suite: owner)
    case .appGroupUserDefaults: .appGroupUserDefaults(identifier: owner)
    case .keychain: .keychain(service: owner)
    case .fileSystem: .fileSystem(directory: fileDirectory)
    case .encryptedFileSystem: .encryptedFileSystem(directory: fileDirectory)
    case .appGroupFileSystem: .appGroupFileSystem(id: owner, directory: fileDirectory)
    }
  }

  private var fileDirectory: FileDirectory {
    switch directory {
    case nil, "documents": .documents
    case "caches": .caches
    case let path?: .custom(URL(fileURLWithPath: path, isDirectory: true))
    }
  }
}
