internal import StorageCore

/// Finds items, and decides when to believe an empty answer.
///
/// Services also answer "absent" for an item in a locked collection, or in none. So the answer is
/// believed only for collections that were seen to exist and to be unlocked.
extension BusConnection {
  /// The items that have all of the attributes, unlocked.
  ///
  /// - Parameters:
  ///   - attributes: attributes that the items have, among others.
  ///   - collection: the collection that they are in; nil for all collections.
  ///   - related: attributes of items that will be needed next: if items are unlocked one by one,
  ///     the user is asked once for all of them.
  ///   - call: whether the user may be asked, and for how long.
  /// - Returns: their paths; an empty array if there are no such items.
  /// - Throws: `locked` when some items are, or may be, in a collection that stays locked.
  func find(
    _ attributes: [String: String], in collection: ObjectPath?,
    with related: [String: String]? = nil, _ call: Call
  ) throws(BusFailure) -> [ObjectPath] {
    // KeePassXC answers a search only after it has unlocked something, by a dialog of its own that
    // follows no policy. So collections are unlocked before the search.
    if let collection {
      if try isLocked(collection, call) { try unlock([collection], call) }
    } else {
      try unlockSomething(call)
    }
    for _ in 0..<Self.searches {
      let found = try matches(attributes, in: collection, call)
      if !found.locked.isEmpty {
        try unlock(items: found.locked, with: related, in: collection, call)
        continue
      }
      if !found.unlocked.isEmpty { return found.unlocked }
      guard try unlockWhatMayHide(in: collection, call) else { return [] }
    }
    throw Self.staysLocked
  }

  /// Unlocks the collections of items, or the items themselves, which KeePassXC locks one by one.
  private func unlock(
    items: [ObjectPath], with related: [String: String]?, in collection: ObjectPath?, _ call: Call
  ) throws(BusFailure) {
    var locked: [ObjectPath] = []
    for each in Set(items.compactMap(\.collection)) where try isLocked(each, call) {
      locked.append(each)
    }
    if locked.isEmpty {
      locked = items
      if let related { locked += try matches(related, in: collection, call).locked }
    }
    try unlock(Array(Set(locked)), call)
  }

  /// Unlocks the default collection, or any other, when all are locked and none shows its items.
  func unlockSomething(_ call: Call) throws(BusFailure) {
    let collections = try collections(call)
    for each in collections {
      guard try isLocked(each, call), try items(of: each, call).isEmpty else { return }
    }
    guard let any = collections.first else { return }
    try unlock([try collection(alias: "default", call) ?? any], call)
  }

  /// The items that a search finds in one collection or in all, readable or not.
  func matches(
    _ attributes: [String: String], in collection: ObjectPath?, _ call: Call
  ) throws(BusFailure) -> Found {
    var found = try search(attributes, call)
    guard let collection else { return found }
    found.unlocked.removeAll { !$0.isItem(of: collection) }
    found.locked.removeAll { !$0.isItem(of: collection) }
    return found
  }

  /// Unlocks collections that may hide items from a search.
  ///
  /// A locked collection that shows no items may be empty, or hide its items as KeePassXC does.
  ///
  /// - Returns: whether something was unlocked; the search must then be repeated.
  private func unlockWhatMayHide(
    in collection: ObjectPath?, _ call: Call
  ) throws(BusFailure) -> Bool {
    if let collection {
      // It may have been locked meanwhile.
      guard try isLocked(collection, call) else { return false }
      try unlock([collection], call)
      return true
    }
    let collections = try collections(call)
    guard !collections.isEmpty else {
      throw BusFailure(
        .noCollection,
        "the keyring has no collection at all; make or expose one in the desktop's keyring program")
    }
    var hiding: [ObjectPath] = []
    for each in collections {
      if try isLocked(each, call), try items(of: each, call).isEmpty { hiding.append(each) }
    }
    guard !hiding.isEmpty else { return false }
    try unlock(hiding, call)
    return true
  }

  private static let searches = 3

  /// The collection that a name stands for.
  ///
  /// - Parameters:
  ///   - name: an alias, such as `login`, or a label; nil for the default collection.
  ///   - call: for how long.
  /// - Returns: its path; it may be locked.
  /// - Throws: `noCollection`, `duplicate` when several have the label, or `invalid` for a name
  ///   without a visible character: gnome-keyring's session collection, which ends with the
  ///   session, has an empty label.
  func collection(named name: String?, _ call: Call) throws(BusFailure) -> ObjectPath {
    if let name {
      let scalars = name.unicodeScalars
      guard scalars.contains(where: { !$0.properties.isWhitespace }),
        !scalars.contains(where: { $0.properties.generalCategory == .control })
      else {
        throw BusFailure(
          .invalid,
          "the name of a collection needs a visible character and no control characters; pass nil "
            + "for the default collection")
      }
    }
    if let path = try collection(alias: name ?? "default", call) { return path }
    guard let name else {
      throw BusFailure(
        .noCollection,
        "the keyring has no default collection; make one in the desktop's keyring program, or name "
          + "another")
    }
    var labelled: [ObjectPath] = []
    for path in try collections(call) where try label(of: path, call) == name {
      labelled.append(path)
    }
    guard labelled.count < 2 else {
      throw BusFailure(
        .duplicate,
        "\(labelled.count) collections have the label \"\(name)\"; name the collection by its alias"
      )
    }
    guard let path = labelled.first else {
      throw BusFailure(
        .noCollection, "the keyring has no collection \"\(name)\"; create it, or name another")
    }
    return path
  }

  /// Unlocks a collection if it is locked, and checks that it is unlocked.
  func ensureUnlocked(_ collection: ObjectPath, _ call: Call) throws(BusFailure) {
    guard try isLocked(collection, call) else { return }
    try unlock([collection], call)
    guard try !isLocked(collection, call) else { throw Self.staysLocked }
  }

  static let staysLocked = BusFailure(
    .locked, "the collection stays locked; unlock it and try again")
}
