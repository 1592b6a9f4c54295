internal import CryptoCore
internal import Dispatch
internal import StorageCore

/// Reads and writes items that other programs use, too.
///
/// All methods are steps of a call, which may start over.
extension BusConnection {
  // MARK: - Finding

  /// The items that a query finds, unlocked, in the order in which they were made.
  ///
  /// - Throws: as `find`: an empty answer counts only for collections that exist and are unlocked.
  func find(_ query: ItemQuery, _ call: Call) throws(BusFailure) -> FoundItems {
    let collection = try query.path(self, call)
    for _ in 0..<3 {
      guard let snapshots = try snapshots(query.alternatives, in: collection, call) else {
        continue
      }
      return FoundItems(
        items: snapshots.filter(query.accepts), count: snapshots.count, subject: query.subject)
    }
    throw BusFailure(
      .busy, "the items of the keyring keep changing during the search; try again")
  }

  /// The items that match one of the alternatives, or nil when an item vanished during the look.
  private func snapshots(
    _ alternatives: [[String: String]], in collection: ObjectPath?, _ call: Call
  ) throws(BusFailure) -> [ItemSnapshot]? {
    var seen: Set<ObjectPath> = []
    var snapshots: [ItemSnapshot] = []
    for attributes in alternatives {
      for path in try find(attributes, in: collection, call) where seen.insert(path).inserted {
        guard let snapshot = try snapshot(of: path, call) else { return nil }
        // Some services answer with items that don't match; these are left out.
        guard !snapshot.isOfStore, snapshot.has(attributes) else { continue }
        snapshots.append(snapshot)
      }
    }
    return snapshots.sorted { ($0.created, $0.path.order) < ($1.created, $1.path.order) }
  }

  /// Everything about an item except its secret; nil when the item does not exist.
  func snapshot(of item: ObjectPath, _ call: Call) throws(BusFailure) -> ItemSnapshot? {
    let properties: [String: Variant]
    do throws(BusFailure) {
      properties = try self.properties(of: item, call)
    } catch {
      guard error.kind == .noObject else { throw error }
      return nil
    }
    // For a deleted item KWallet reports no interface error, and no properties either.
    guard !properties.isEmpty else { return nil }
    guard let attributes = properties["Attributes"]?.attributes,
      let label = properties["Label"]?.text
    else { throw Self.malformed("GetAll") }
    return ItemSnapshot(
      path: item, label: label, attributes: attributes,
      created: properties["Created"]?.number ?? 0, modified: properties["Modified"]?.number ?? 0,
      isLocked: properties["Locked"]?.boolean ?? false)
  }

  /// The secret of an item that was found, or nil when the item is gone.
  func secret(of item: ObjectPath, _ call: Call) throws(BusFailure) -> ReceivedSecret? {
    if let secret = try secrets(of: [item], call)[item], !secret.isEmpty { return secret }
    // A locked item gives no secret; with KWallet it gives an empty one.
    try ensureUnlocked(collection(of: item), call)
    if let secret = try secrets(of: [item], call)[item] { return secret }
    do throws(BusFailure) {
      guard try !isLocked(item, interface: "Item", call) else { throw Self.staysLocked }
    } catch {
      guard error.kind == .noObject else { throw error }
      return nil
    }
    throw BusFailure(
      .damaged,
      "the keyring service has the item but does not return its secret; check the item in a keyring "
        + "program")
  }

  private func collection(of item: ObjectPath) throws(BusFailure) -> ObjectPath {
    guard let collection = item.collection else { throw Self.malformed("SearchItems") }
    return collection
  }

  // MARK: - Writing

  /// Stores an item: over the found one, in one step, or as a new one.
  ///
  /// - Parameters:
  ///   - content: the new content. An existing item keeps its label and its attributes.
  ///   - found: the items that were found.
  ///   - place: the collection for a new item.
  ///   - call: for how long.
  /// - Returns: its path.
  /// - Throws: `duplicate` when several were found; nothing is then changed.
  @discardableResult
  func put(
    _ content: ItemContent, over found: FoundItems, in place: String?, _ call: Call
  ) throws(BusFailure) -> ObjectPath {
    let encoded = try content.secret.bytes.withBytes { (span) throws(BusFailure) in
      try encode(span, contentType: content.secret.contentType)
    }
    guard let existing = try found.only() else {
      return try create(content, encoded, in: place, mayReplace: true, call)
    }
    let collection = try collection(of: existing.path)
    try ensureUnlocked(collection, call)
    // Services also replace an item that has further attributes. So an item is replaced only if it
    // is the found one, and if no other could be taken for it.
    guard found.count == 1, existing.attributes.withoutAdded.isExactly(content.attributes) else {
      try setSecret(encoded, of: existing.path, call)
      announce(existing, call)
      return existing.path
    }
    var replaced = content
    if !existing.label.isEmpty { replaced.label = existing.label }
    return try createItem(replaced, encoded, in: collection, replacing: true, call)
  }

  /// Stores an item as a new one.
  ///
  /// - Returns: its path.
  /// - Throws: `duplicate` when there is one with these attributes; nothing is then changed.
  func make(
    _ content: ItemContent, in place: String?, _ call: Call
  ) throws(BusFailure) -> ObjectPath {
    let encoded = try content.secret.bytes.withBytes { (span) throws(BusFailure) in
      try encode(span, contentType: content.secret.contentType)
    }
    return try create(content, encoded, in: place, mayReplace: false, call)
  }

  /// Makes the service signal a changed item: gnome-keyring sends no signal after SetSecret.
  private func announce(_ item: ItemSnapshot, _ call: Call) {
    guard !item.label.isEmpty, !item.attributes.isOfKeePassXC else { return }
    // A failure here does not matter: the secret is stored.
    do throws(BusFailure) { try setLabel(item.label, of: item.path, call) } catch {}
  }

  private func create(
    _ content: ItemContent, _ encoded: Variant, in place: String?, mayReplace: Bool, _ call: Call
  ) throws(BusFailure) -> ObjectPath {
    let collection = try collection(named: place, call)
    try ensureUnlocked(collection, call)
    return try inTurn(call) { () throws(BusFailure) in
      // The new item replaces one that another program makes at this moment, so that there are not
      // two. But it must not replace an item that has these attributes and more, as services would
      // do.
      var replaces = true
      for path in try find(content.attributes, in: collection, call) {
        guard let item = try snapshot(of: path, call) else { continue }
        guard item.attributes.withoutAdded.isExactly(content.attributes) else {
          replaces = false
          continue
        }
        guard mayReplace else {
          throw BusFailure(
            .duplicate,
            "another item already has exactly these attributes; nothing was changed. Change or remove "
              + "that item, or use other attributes")
        }
        // Made since the caller looked. KeePassXC would keep both, though it is told to replace.
        try setSecret(encoded, of: item.path, call)
        announce(item, call)
        return item.path
      }
      return try createItem(content, encoded, in: collection, replacing: replaces, call)
    }
  }

  private static let turn = DispatchSemaphore(value: 1)

  /// Runs `body` while no other thread of the process makes an item.
  ///
  /// Otherwise two threads may both find no item, and make two.
  private func inTurn<Result>(
    _ call: Call, _ body: () throws(BusFailure) -> Result
  ) throws(BusFailure) -> Result {
    // The other call may wait for the user, so the time here does not count either.
    let end = ContinuousClock.now + call.access.deadline + call.access.promptDeadline
    try call.whileAsking { () throws(BusFailure) in
      // Waits in short pieces: a semaphore knows nothing of cancelled calls.
      while Self.turn.wait(timeout: .now() + .milliseconds(20)) != .success {
        guard !call.cancelling.isCancelled else {
          throw BusFailure(.cancelled, "the call was cancelled while another one made an item")
        }
        guard ContinuousClock.now < end else { throw .outOfTime("waiting for another call") }
      }
    }
    defer { Self.turn.signal() }
    return try body()
  }

  private func createItem(
    _ content: ItemContent, _ encoded: Variant, in collection: ObjectPath, replacing: Bool,
    _ call: Call
  ) throws(BusFailure) -> ObjectPath {
    let (made, wasPrompted) = try createItem(
      in: collection, label: content.label, attributes: content.attributes, secret: encoded,
      replacing: replacing, call)
    guard wasPrompted || made == .none else { return made }
    // A store may seem to succeed although its prompt was dismissed.
    for path in try find(content.attributes, in: collection, call) {
      guard let snapshot = try snapshot(of: path, call),
        snapshot.attributes.withoutAdded.isExactly(content.attributes),
        let secret = try secrets(of: [path], call)[path], secret.holds(content.secret.bytes)
      else { continue }
      return path
    }
    throw BusFailure(
      .outcomeUnknown,
      "the keyring service accepted the item but now returns something else; read the item again")
  }

  /// Deletes an item, and checks that it is gone.
  func remove(_ item: ObjectPath, _ call: Call) throws(BusFailure) {
    let collection = try collection(of: item)
    try ensureUnlocked(collection, call)
    try delete(item, call)
    // If the wallet is locked, KWallet forgets the item, but keeps its secret.
    guard try snapshot(of: item, call) == nil, try !isLocked(collection, call) else {
      throw BusFailure(
        .outcomeUnknown,
        "the keyring service reported that the item was deleted, but the item still exists or the keyring "
          + "is locked; unlock the keyring and look at the item again")
    }
  }

  /// Replaces the attributes of an item in one step.
  func setAttributes(
    _ attributes: [String: String], of item: ObjectPath, _ call: Call
  ) throws(BusFailure) {
    try ensureUnlocked(collection(of: item), call)
    let value = try storage { () throws(StorageError) in
      try Variant.attributes(attributes.withoutReadOnly)
    }
    try set("Attributes", of: item, to: value, call)
  }

  /// Replaces the label of an item.
  func setLabel(_ label: String, of item: ObjectPath, _ call: Call) throws(BusFailure) {
    try ensureUnlocked(collection(of: item), call)
    try set(
      "Label", of: item, to: try storage { () throws(StorageError) in try Variant.string(label) },
      call)
  }
}

extension ObjectPath {
  /// Orders paths by their last parts, if these are numbers.
  fileprivate var order: String {
    let last = text.split(separator: "/").last ?? ""
    return String(repeating: "0", count: max(0, 20 - last.utf8.count)) + last
  }
}

extension ReceivedSecret {
  /// Whether the secret has exactly these bytes.
  func holds(_ bytes: SecureBytes) -> Bool {
    withBytes { mine in bytes.withBytes { ConstantTime.equal(mine, $0) } }
  }

  /// A copy in memory that is wiped.
  func secured() throws(BusFailure) -> SecureBytes {
    try storage { () throws(StorageError) in
      try cryptography { () throws(CryptoError) in
        try withBytes { (span) throws(CryptoError) in try SecureBytes(copying: span) }
      }
    }
  }
}
