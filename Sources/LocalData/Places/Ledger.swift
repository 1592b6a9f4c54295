internal import StorageCore

/// A router's record of where it put values: the vault `localdata.vault` beside the application's
/// vault.
///
/// The entry is written before the first value, so every value has an entry. An entry without a
/// value is harmless: the router checks the place before it relies on the entry.
struct Ledger: Sendable {
  /// Where a key's value is, and what protects it.
  struct Entry: Codable, Equatable, Sendable {
    var domain: DomainText
    var name: String
    var address: PlaceAddress
    /// The protection of the value.
    var protection: StoredProtection
    /// The name of the serializer.
    var serializer: String
  }

  let storage: DelegatedStorage

  init(_ storage: DelegatedStorage) { self.storage = storage }

  static let file = "localdata.vault"
  private static let entryPrefix = "key:"
  private static let choice = "keychain place"

  private static func key(_ domain: StorageDomain, _ name: String) -> String {
    "\(entryPrefix)\(domain)\u{1F}\(name)"
  }

  func entry(_ domain: StorageDomain, _ name: String) throws(StorageError) -> Entry? {
    try storage.load(decodable: Entry.self, forKey: Self.key(domain, name))
  }

  func record(_ entry: Entry, _ domain: StorageDomain) throws(StorageError) {
    guard try self.entry(domain, entry.name) != entry else { return }
    try storage.save(encodable: entry, forKey: Self.key(domain, entry.name))
  }

  /// Replaces an entry by that of another domain, unless the other has one, in one step.
  func move(
    _ entry: Entry, to moved: Entry, _ domain: StorageDomain
  ) throws(StorageError) {
    let (old, new) = (Self.key(entry.domain.domain, entry.name), Self.key(domain, entry.name))
    guard old != new else { return }
    try storageErrors {
      try storage.transaction { transaction in
        if try !transaction.contains(new) { try transaction.save(encodable: moved, forKey: new) }
        try transaction.delete(forKey: old)
      }
    }
  }

  /// All entries.
  func entries() throws(StorageError) -> [Entry] {
    var entries: [Entry] = []
    for key in try storage.keys().sorted() where key.hasPrefix(Self.entryPrefix) {
      if let entry = try storage.load(decodable: Entry.self, forKey: key) { entries.append(entry) }
    }
    return entries
  }

  /// Where the values of the domain `keychain` are; nil until that is decided.
  func keychainPlace() throws(StorageError) -> PlaceAddress.Kind? {
    try storage.load(String.self, forKey: Self.choice).flatMap { PlaceAddress.Kind(rawValue: $0) }
  }

  /// Records the keychain's place, unless it is already recorded; returns the recorded place.
  func recordKeychain(_ place: PlaceAddress.Kind) throws(StorageError) -> PlaceAddress.Kind {
    try storage.saveIfAbsent(place.rawValue, forKey: Self.choice)
    return try keychainPlace() ?? place
  }

  /// Changes the keychain's place; the former place must be empty.
  func change(to place: PlaceAddress.Kind) throws(StorageError) {
    try storage.save(place.rawValue, forKey: Self.choice)
  }

  /// The check value of a master key that was created, or nil.
  func check(ofMasterKey id: String) throws(StorageError) -> [UInt8]? {
    try storage.load([UInt8].self, forKey: "master key:\(id)")
  }

  /// Records the check value of a master key.
  func record(_ check: [UInt8], ofMasterKey id: String) throws(StorageError) {
    try storage.saveIfAbsent(check, forKey: "master key:\(id)")
  }
}
