/// Where the value of a key is kept.
public struct StorageDomain: Hashable, Sendable {
  /// The kind of place, with the details of the declaration.
  package enum Kind: Hashable, Sendable {
    case userDefaults(suite: String?)
    case appGroupUserDefaults(identifier: String?)
    case keychain(service: String?)
    case fileSystem(FileDirectory)
    case encryptedFileSystem(FileDirectory)
    case appGroupFileSystem(id: String?, FileDirectory)
  }
  package let kind: Kind

  package init(_ kind: Kind) { self.kind = kind }

  /// Settings: a property list in the user's configuration folder.
  ///
  /// Sealed values are in `<application id>.localdata.secure.plist`. Values with
  /// ``SecurityPolicy/none`` are readable, in `<application id>.localdata.plain.plist`.
  public static let userDefaults = StorageDomain(.userDefaults(suite: nil))

  /// Settings in a suite of their own.
  ///
  /// - Parameter suite: 1 to 200 bytes without a slash; nil means the application's own suite.
  /// - Returns: the domain.
  public static func userDefaults(suite: String?) -> StorageDomain {
    StorageDomain(.userDefaults(suite: suite))
  }

  /// Settings that several programs share: a property list in the folder of their group.
  ///
  /// - Parameter identifier: the group; nil means
  ///   ``StorageConfiguration/defaultAppGroupIdentifier``. A missing or malformed identifier throws
  ///   `invalidAppGroupIdentifier`.
  /// - Returns: the domain.
  public static func appGroupUserDefaults(identifier: String?) -> StorageDomain {
    StorageDomain(.appGroupUserDefaults(identifier: identifier))
  }

  /// Credentials and other secrets: in the desktop's keyring if there is one, else in a vault.
  ///
  /// See ``StorageConfiguration/keychain``.
  ///
  /// - Parameter service: the owner of the secrets; nil means
  ///   ``StorageConfiguration/defaultKeychainService``.
  /// - Returns: the domain.
  public static func keychain(service: String?) -> StorageDomain {
    StorageDomain(.keychain(service: service))
  }

  /// A file for each key, of at most 256 MiB.
  public static func fileSystem(directory: FileDirectory) -> StorageDomain {
    StorageDomain(.fileSystem(directory))
  }

  /// Values of any size in a sealed folder, which hides names and contents.
  public static func encryptedFileSystem(directory: FileDirectory) -> StorageDomain {
    StorageDomain(.encryptedFileSystem(directory))
  }

  /// A file for each key, of at most 256 MiB, in the folder of a group of programs.
  ///
  /// - Parameters:
  ///   - id: the group, as in ``appGroupUserDefaults(identifier:)``.
  ///   - directory: the folder within the group's folder; a custom one throws `unsupported`.
  /// - Returns: the domain.
  public static func appGroupFileSystem(id: String?, directory: FileDirectory) -> StorageDomain {
    StorageDomain(.appGroupFileSystem(id: id, directory))
  }
}

extension StorageDomain: CustomStringConvertible {
  /// The domain as it is declared, as in `keychain(com.example)`; `keychain(default)` where the
  /// service is left out, and `keychain("default")` where it has that name.
  public var description: String {
    switch kind {
    case .userDefaults(nil): "userDefaults"
    case .userDefaults(let suite?): "userDefaults(\(Self.text(suite)))"
    case .appGroupUserDefaults(let group): "appGroupUserDefaults(\(Self.text(group)))"
    case .keychain(let service): "keychain(\(Self.text(service)))"
    case .fileSystem(let directory): "fileSystem(\(directory))"
    case .encryptedFileSystem(let directory): "encryptedFileSystem(\(directory))"
    case .appGroupFileSystem(let group, let directory):
      "appGroupFileSystem(\(Self.text(group)), \(directory))"
    }
  }

  /// The shown name, or `default` if none is declared.
  ///
  /// A name that is `default` or contains a delimiter is quoted, so that different domains always
  /// have different texts.
  private static func text(_ name: String?) -> String {
    guard let name else { return "default" }
    let isClear = name != "default" && !name.contains { "\"(),".contains($0) }
    guard !isClear else { return name }
    let escaped = name.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
    return "\"\(escaped)\""
  }
}
