import DefaultsBackend
import Foundation
import StorageCore
import VaultBackend

extension Target {
  /// The file of a suite.
  static let propertyList = Target(
    name: "property-list",
    seeds: {
      try [0, 1, 20].map { count in
        let files = try Files()
        try files.fill(files.suite, count)
        return try files.read(files.suiteFile)
      }
    },
    make: {
      let files = try Files()
      return { input in
        try files.write(input, to: files.suiteFile)
        let isRead = try files.check(files.suite)
        guard !isRead else {
          // Foundation reads what this reader reads; the other way round it need not be.
          let list = try unsafe PropertyListSerialization.propertyList(
            from: Data(input), format: nil)
          guard list is [String: Data] else { finding("Foundation reads another list") }
          return
        }
        guard try files.read(files.suiteFile) == input else {
          finding("a file that was refused was replaced")
        }
      }
    })

  /// The file of a vault.
  static let vault = Target(
    name: "vault",
    seeds: {
      try [0, 1, 20].map { count in
        let files = try Files()
        try files.fill(files.vault(), count)
        return try files.read(files.vaultFile)
      }
    },
    make: {
      let files = try Files()
      return { input in
        try files.removeVault()
        try files.write(input, to: files.vaultFile)
        // A file that nobody may write to is read in another way.
        _ = try files.check(files.vault(.readOnly))
        let vault = files.vault()
        _ = try taking { try vault.verify() }
        _ = try files.check(vault)
      }
    })
}

/// A folder with the file of a suite and that of a vault.
private struct Files {
  private let folder: String
  let suite: UserDefaultsStorage
  let suiteFile: String
  let vaultFile: String

  init() throws {
    folder = FileManager.default.temporaryDirectory.path + "/" + UUID().uuidString
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    let name = UUID().uuidString
    guard let settings = ProcessInfo.processInfo.environment["XDG_CONFIG_HOME"] else {
      finding("run it by scripts/fuzz.sh: XDG_CONFIG_HOME is not set")
    }
    suite = UserDefaultsStorage(suiteName: name, keySource: .key(Sample.key))
    suiteFile = "\(settings)/\(name).secure.plist"
    vaultFile = folder + "/a.vault"
  }

  func vault(_ access: VaultAccess = .readWrite) -> VaultStorage {
    VaultStorage(
      at: URL(fileURLWithPath: vaultFile), keySource: .key(Sample.key), access: access)
  }

  func fill(_ storage: DelegatedStorage, _ count: Int) throws {
    try storage.open()
    for index in 0..<count { try storage.save(Sample.text, forKey: "key \(index)") }
  }

  func read(_ path: String) throws -> [UInt8] {
    Array(try Data(contentsOf: URL(fileURLWithPath: path)))
  }

  /// Puts bytes in the place of a file, as somebody does who replaces it.
  func write(_ bytes: [UInt8], to path: String) throws {
    try Data(bytes).write(to: URL(fileURLWithPath: path + ".fuzz"))
    guard unsafe chmod(path + ".fuzz", 0o600) == 0, unsafe rename(path + ".fuzz", path) == 0 else {
      finding("rename: \(errno)")
    }
  }

  func removeVault() throws {
    for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
      try FileManager.default.removeItem(atPath: "\(folder)/\(name)")
    }
  }

  /// Reads and writes.
  ///
  /// - Returns: whether it could be read.
  func check(_ storage: DelegatedStorage) throws -> Bool {
    _ = try taking { try storage.keyAdministration.slots() }
    let listing = try taking { try storage.listing() }
    var isRead = listing != nil
    for key in listing?.keys ?? [] {
      if let text = try taking({ try storage.load(String.self, forKey: key) }), text != Sample.text
      {
        finding("a forged value opened")
      }
    }
    if try taking({ try storage.load(String.self, forKey: "key 0") }) == nil { isRead = false }
    _ = try taking(also: [.readOnly]) {
      try storage.save(Sample.text, forKey: "key 0")
    }
    return isRead
  }
}
