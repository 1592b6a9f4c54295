internal import Foundation

/// All state of the fake, and the signals that a call leaves to be sent.
struct SecretState: Sendable {
  typealias Item = FakeSecretService.Item
  typealias Collection = FakeSecretService.Collection
  typealias Manners = FakeSecretService.Manners

  struct Prompt: Sendable {
    let caller: String
    /// Whether Prompt was called: it is on the screen.
    var isShown = false
    /// Does what the prompt is for, and returns the result.
    let operation: @Sendable (inout SecretState) -> DBusValue
    /// The result when it is dismissed, of the same type: a client may not look at which it is.
    let nothing: DBusValue
  }

  var manners: Manners
  var calls: [String: Int] = [:]
  var collections: [Collection] = []
  var aliases: [String: String] = [:]
  var sessions: Set<String> = []
  /// The sessions that have another key than their clients.
  var foreignSessions: Set<String> = []
  /// Items that are locked though their collections are not.
  var lockedItems: Set<String> = []
  var prompts: [String: Prompt] = [:]
  /// What is to be sent as soon as the lock is open.
  var outbox: [Signal] = []
  /// How many prompts, items and sessions there were: a path is never used twice.
  private var count = 0

  init(manners: Manners) { self.manners = manners }

  static var now: UInt64 { UInt64(time(nil)) }

  mutating func nextNumber() -> Int {
    count += 1
    return count
  }

  mutating func takeOutbox() -> [Signal] {
    defer { outbox = [] }
    return outbox
  }

  // MARK: Finding

  /// The collections that callers see.
  var visibleCollections: [Collection] { manners.hasCollections ? collections : [] }

  /// The path that an alias leads to; nil if it leads nowhere.
  func target(ofAlias alias: String) -> String? {
    guard alias != "default" || manners.hasDefaultCollection, let path = aliases[alias]
    else { return nil }
    return visibleCollections.contains { $0.path == path } ? path : nil
  }

  /// The collection at a path, which may be that of an alias.
  func collectionIndex(_ path: String) -> Int? {
    guard manners.hasCollections else { return nil }
    let isAlias = path.hasPrefix(SecretServiceName.aliases)
    let real =
      isAlias ? target(ofAlias: String(path.dropFirst(SecretServiceName.aliases.count))) : path
    return collections.firstIndex { $0.path == real }
  }

  /// The item at a path, and its collection.
  func itemIndex(_ path: String) -> (collection: Int, item: Int)? {
    guard manners.hasCollections else { return nil }
    for (index, collection) in collections.enumerated() where !hidesItems(of: collection) {
      if let item = collection.items.firstIndex(where: { $0.path == path }) { return (index, item) }
    }
    return nil
  }

  func hidesItems(of collection: Collection) -> Bool {
    collection.isLocked && manners.lockedItems == .hidden
  }

  func isLocked(_ item: Item, in collection: Collection) -> Bool {
    collection.isLocked || lockedItems.contains(item.path)
  }

  func visibleItems(of collection: Collection) -> [Item] {
    hidesItems(of: collection) ? [] : collection.items
  }

  func attributes(of item: Item) -> [String: String] {
    guard let added = manners.addedAttributes else { return item.attributes }
    return item.attributes.merging(added(item)) { $1 }
  }

  func says(isLocked: Bool) -> Bool { isLocked && !manners.lies.contains(.unlocked) }

  /// The answer to a call of a missing object.
  func missing(_ path: String) -> Refusal {
    Refusal(name: manners.missingObjectError, message: "there is no \(path)")
  }

  /// The items of a collection that have all of `attributes`.
  func search(_ collection: Collection, _ attributes: [String: String]) -> [String] {
    if attributes.isEmpty, manners.emptySearchFindsNothing { return [] }
    var found = visibleItems(of: collection).filter { item in
      let own = self.attributes(of: item)
      return manners.lies.contains(.foundItems) || attributes.allSatisfy { own[$0.key] == $0.value }
    }.map(\.path)
    if manners.lies.contains(.foreignPaths) { found.append("/org/example/secret") }
    return found
  }

  // MARK: Changing

  /// Makes a collection, unless the alias leads to one already.
  mutating func makeCollection(label: String, alias: String) -> String {
    if let path = aliases[alias] { return path }
    let letters = label.utf8.map { byte in
      let scalar = Unicode.Scalar(byte)
      return scalar.properties.isAlphabetic && byte < 128 || (48...57).contains(byte)
        ? String(scalar).lowercased() : "_"
    }
    var path = SecretServiceName.collections + (letters.isEmpty ? "_" : letters.joined())
    if collections.contains(where: { $0.path == path }) { path += "_\(nextNumber())" }
    collections.append(
      Collection(
        path: path, label: label, isLocked: manners.startsLocked, created: Self.now,
        modified: Self.now))
    if !alias.isEmpty { aliases[alias] = path }
    tellService("CollectionCreated", path)
    return path
  }

  mutating func removeCollection(_ path: String) {
    collections.removeAll { $0.path == path }
    aliases = aliases.filter { $0.value != path }
    tellService("CollectionDeleted", path)
  }

  mutating func setLocked(_ isLocked: Bool, _ path: String) {
    guard let index = collectionIndex(path), collections[index].isLocked != isLocked else { return }
    collections[index].isLocked = isLocked
    tellService("CollectionChanged", collections[index].path)
  }

  mutating func addItem(_ item: Item, to collection: Int) {
    collections[collection].items.append(item)
    tellCollection(collection, "ItemCreated", item.path)
  }

  mutating func removeItem(_ path: String) {
    guard let (collection, item) = itemIndex(path) else { return }
    collections[collection].items.remove(at: item)
    tellCollection(collection, "ItemDeleted", path)
  }

  mutating func changeItem(_ path: String, signals: Int, _ change: (inout Item) -> Void) {
    guard let (collection, item) = itemIndex(path) else { return }
    change(&collections[collection].items[item])
    collections[collection].items[item].modified = Self.now
    for _ in 0..<signals { tellCollection(collection, "ItemChanged", path) }
  }

  // MARK: Telling

  private mutating func tellService(_ signal: String, _ path: String) {
    outbox.append(
      Signal(
        path: SecretServiceName.root, interface: SecretServiceName.interface("Service"),
        member: signal, body: [.objectPath(path)]))
    guard signal != "CollectionChanged" else {
      guard let index = collectionIndex(path) else { return }
      let isLocked = DBusValue.boolean(says(isLocked: collections[index].isLocked))
      tellProperties(path, "Collection", ["Locked": isLocked])
      return
    }
    let paths = DBusValue.paths(visibleCollections.map(\.path))
    tellProperties(SecretServiceName.root, "Service", ["Collections": paths])
  }

  private mutating func tellCollection(_ index: Int, _ signal: String, _ item: String) {
    let path = collections[index].path
    outbox.append(
      Signal(
        path: path, interface: SecretServiceName.interface("Collection"), member: signal,
        body: [.objectPath(item)]))
    if signal != "ItemChanged" {
      let items = DBusValue.paths(visibleItems(of: collections[index]).map(\.path))
      tellProperties(path, "Collection", ["Items": items])
    }
  }

  private mutating func tellProperties(
    _ path: String, _ interface: String, _ properties: [String: DBusValue]
  ) {
    outbox.append(
      Signal(
        path: path, interface: "org.freedesktop.DBus.Properties", member: "PropertiesChanged",
        body: [
          .string(SecretServiceName.interface(interface)), .properties(properties),
          .array([], of: "s"),
        ]))
  }
}
