/// Where the value of a key is kept.
public struct StorageDomain: Hashable, Sendable {
  /// Which of the places, with what the declaration says of it.
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
  /// Sealed, in `<application id>.localdata.secure.plist`; with ``SecurityPolicy/none`` readable, in
  /// `<application id>.localdata.plain.plist`.
  public static let userDefaults = StorageDomain(.userDefaults(suite: nil))

  /// Settings in a suite of their own.
  ///
  /// - Parameter suite: 1 to 200 bytes without a slash; nil is the application's own.
  /// - Returns: the domain.
  public static func userDefaults(suite: String?) -> StorageDomain {
    StorageDomain(.userDefaults(suite: suite))
  }

  /// Settings that several programs share: a property list in the folder of their group.
  ///
  /// - Parameter identifier: the group; nil is ``StorageConfiguration/defaultAppGroupIdentifier``. A
  ///   missing or malformed one is the error `invalidAppGroupIdentifier`.
  /// - Returns: the domain.
  public static func appGroupUserDefaults(identifier: String?) -> StorageDomain {
    StorageDomain(.appGroupUserDefaults(identifier: identifier))
  }

  /// Credentials and other secrets: the desktop's keyring where there is one, else a vault.
  ///
  /// See ``StorageConfiguration/keychain``.
  ///
  /// - Parameter service: whose secrets they are; nil is
  ///   ``StorageConfiguration/defaultKeychainService``.
  /// - Returns: the domain.
  public static func keychain(service: String?) -> StorageDomain {
    StorageDomain(.keychain(service: service))
  }

  /// A file for each key.
  public static func fileSystem(directory: FileDirectory) -> StorageDomain {
    StorageDomain(.fileSystem(directory))
  }

  /// Values of any size in a sealed folder, which shows neither names nor bytes.
  public static func encryptedFileSystem(directory: FileDirectory) -> StorageDomain {
    StorageDomain(.encryptedFileSystem(directory))
  }

  /// A file for each key, in the folder of a group of programs.
  ///
  /// - Parameters:
  ///   - id: the group, as in ``appGroupUserDefaults(identifier:)``.
  ///   - directory: the folder within that of the group; a custom one is the error `unsupported`.
  /// - Returns: the domain.
  public static func appGroupFileSystem(id: String?, directory: FileDirectory) -> StorageDomain {
    StorageDomain(.appGroupFileSystem(id: id, directory))
  }
}

extension StorageDomain: CustomStringConvertible {
  /// The domain as it is declared, as in `keychain(com.example)`; `keychain(default)` where the service is
  /// left out, and `keychain("default")` where it has that name.
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

  /// A name as it is shown, or `default` where none is declared.
  ///
  /// One that could be taken for that, or that could end early, is quoted, so that no two domains have one
  /// text.
  private static func text(_ name: String?) -> String {
    guard let name else { return "default" }
    let isClear = name != "default" && !name.contains { "\"(),".contains($0) }
    guard !isClear else { return name }
    let escaped = name.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
    return "\"\(escaped)\""
  }
}
