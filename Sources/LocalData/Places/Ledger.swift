internal import StorageCore

/// What a router remembers of where it put values: a vault, `localdata.vault` beside the application's.
///
/// An entry is made before the first value is, so that no value is without one. An entry whose value is
/// gone does no harm: the place is looked at before it counts.
struct Ledger: Sendable {
  /// Where a key's value is, and under what master key.
  struct Entry: Codable, Equatable, Sendable {
    var domain: DomainText
    var name: String
    var address: PlaceAddress
    /// What protects it.
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

  /// All entries.
  func entries() throws(StorageError) -> [Entry] {
    var entries: [Entry] = []
    for key in try storage.keys().sorted() where key.hasPrefix(Self.entryPrefix) {
      if let entry = try storage.load(decodable: Entry.self, forKey: key) { entries.append(entry) }
    }
    return entries
  }

  /// Where the values of the domain `keychain` are, once that was settled.
  func keychainPlace() throws(StorageError) -> PlaceAddress.Kind? {
    try storage.load(String.self, forKey: Self.choice).flatMap { PlaceAddress.Kind(rawValue: $0) }
  }

  /// Settles it, unless somebody did; gives what counts.
  func settle(_ place: PlaceAddress.Kind) throws(StorageError) -> PlaceAddress.Kind {
    try storage.saveIfAbsent(place.rawValue, forKey: Self.choice)
    return try keychainPlace() ?? place
  }

  /// Changes it, once there is nothing at the former place.
  func change(to place: PlaceAddress.Kind) throws(StorageError) {
    try storage.save(place.rawValue, forKey: Self.choice)
  }

  /// The check value of a master key that was made, or nil.
  func check(ofMasterKey id: String) throws(StorageError) -> [UInt8]? {
    try storage.load([UInt8].self, forKey: "master key:\(id)")
  }

  /// Records the check value of a master key.
  func record(_ check: [UInt8], ofMasterKey id: String) throws(StorageError) {
    try storage.saveIfAbsent(check, forKey: "master key:\(id)")
  }
}
