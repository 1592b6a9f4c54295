internal import CryptoCore
internal import FoundationEssentials
internal import StorageCore

/// Queries of the items of one bus.
struct ItemQueries: Sendable {
  /// Nil for the bus that the options name.
  private let chosen: KeyringClient?

  init(client: KeyringClient? = nil) { chosen = client }

  private func client(_ options: KeyringOptions) -> KeyringClient {
    chosen ?? options.access.client
  }

  func search(
    _ attributes: KeyringAttributes, _ options: KeyringOptions
  ) throws(StorageError) -> [KeyringItem] {
    let query = try attributes.query(options)
    return try client(options).perform(options.access) { (connection, call) throws(BusFailure) in
      var found = try connection.find(query, call).items
      if !options.isForAll { found = Array(found.prefix(1)) }
      var items: [KeyringItem] = []
      for snapshot in found {
        var data: Data?
        if options.returnsData {
          // An item that vanished meanwhile counts as not found.
          guard let secret = try connection.secret(of: snapshot.path, call) else { continue }
          data = secret.withBytes { span in unsafe span.withUnsafeBytes { unsafe Data($0) } }
        }
        items.append(
          KeyringItem(snapshot, data: data, hasAttributes: options.returnsAttributes))
      }
      return items
    }
  }

  func modify(
    _ changes: KeyringAttributes, _ attributes: KeyringAttributes, _ options: KeyringOptions
  ) throws(StorageError) {
    let query = try requireNarrow(attributes.query(options))
    try changes.requireChangeable()
    let secret = try changes.secret()
    let touched = Lock<[ObjectPath]>([])
    defer { note(touched.withLock { $0 }, client(options)) }
    var hasBegun = false
    try client(options).perform(options.access) { (connection, call) throws(BusFailure) in
      let found = try connection.find(query, call)
      let items = try options.isForAll ? found.items : found.only().map { [$0] } ?? []
      guard !items.isEmpty else {
        guard options.id == nil else {
          throw BusFailure(
            .invalid, "no item has this id and these attributes; search for the item again")
        }
        // If the service went away in the middle of a change, the changed item may no longer match
        // the query: no second item is made then.
        guard !hasBegun else {
          throw BusFailure(
            .outcomeUnknown,
            "the keyring service stopped during the change; look at the item before you try again"
          )
        }
        let made = try create(changes.merging(attributes), secret, options, connection, call)
        return touched.withLock { $0.append(made) }
      }
      for item in items {
        touched.withLock { $0.append(item.path) }
        hasBegun = true
        try change(item, changes, secret, connection, call)
      }
    }
  }

  private func create(
    _ attributes: KeyringAttributes, _ secret: PlainSecret?, _ options: KeyringOptions,
    _ connection: BusConnection, _ call: Call
  ) throws(BusFailure) -> ObjectPath {
    guard let secret else {
      throw BusFailure(
        .invalid, "the item does not exist. To create it, add a password to the call")
    }
    if let failure = attributes.addressFailure {
      throw BusFailure(failure.code, failure.message)
    }
    let made = attributes.made
    let name = made[AttributeName.service] ?? made[AttributeName.server] ?? "Secret"
    let label =
      attributes[.label] ?? (AccountNames.get(made).map { "\(name) (\($0))" } ?? name)
    return try connection.make(
      ItemContent(label: label, attributes: made, secret: secret), in: options.group, call)
  }

  /// Changes the attributes, then the label, then the secret, each in a step of its own.
  private func change(
    _ item: ItemSnapshot, _ changes: KeyringAttributes, _ secret: PlainSecret?,
    _ connection: BusConnection, _ call: Call
  ) throws(BusFailure) {
    let changed = changes.changed(item.attributes)
    // A sealed secret is bound to these attributes.
    let bound = [
      AttributeName.sealed, AttributeName.service, AttributeName.account, AttributeName.username,
    ]
    let isKept = changed.filter { bound.contains($0.key) }
      .isExactly(item.attributes.filter { bound.contains($0.key) })
    guard item.attributes[AttributeName.sealed] == nil || secret == nil && isKept
    else {
      throw BusFailure(
        .typeMismatch,
        "the item is sealed. Change its secret and account with the Keyring that sealed it"
      )
    }
    if !changed.isExactly(item.attributes) {
      try connection.setAttributes(changed, of: item.path, call)
    }
    if let label = changes[.label], !label.utf8.elementsEqual(item.label.utf8) {
      try connection.setLabel(label, of: item.path, call)
    }
    guard let secret else { return }
    let now = ItemSnapshot(
      path: item.path, label: changes[.label] ?? item.label, attributes: changed,
      created: item.created, modified: item.modified, isLocked: false)
    // Other items may have these attributes as well, so only the secret is replaced.
    try connection.put(
      ItemContent(label: now.label, attributes: changed, secret: secret),
      over: FoundItems(items: [now], count: 2, subject: ""), in: nil, call)
  }

  func remove(
    _ attributes: KeyringAttributes, _ options: KeyringOptions
  ) throws(StorageError) -> Int {
    let query = try requireNarrow(attributes.query(options))
    let removed = Lock<Set<ObjectPath>>([])
    defer { note(Array(removed.withLock { $0 }), client(options)) }
    try client(options).perform(options.access) { (connection, call) throws(BusFailure) in
      let found = try connection.find(query, call)
      for item in try options.isForAll ? found.items : found.only().map({ [$0] }) ?? [] {
        try connection.remove(item.path, call)
        removed.withLock { _ = $0.insert(item.path) }
      }
    }
    return removed.withLock { $0.count }
  }

  /// Tells the listeners of this process: not every service sends a signal.
  private func note(_ paths: [ObjectPath], _ client: KeyringClient) {
    for path in paths { client.signals.note(path, by: client) }
  }

  /// Throws `invalid` for a query that would find everything.
  private func requireNarrow(_ query: ItemQuery) throws(StorageError) -> ItemQuery {
    guard query.alternatives.allSatisfy({ !$0.isEmpty }) else {
      throw StorageError(
        .invalid,
        "a change or a removal needs a query with at least one attribute besides kind, label and "
          + "dates; add one")
    }
    return query
  }
}

/// A queryable type with a bus of its own instead of the session's.
protocol ItemQuerying {
  var itemQueries: ItemQueries { get }
}

extension KeyringAttributes {
  /// The query for items that have all of these attributes, and the id of the options if they have
  /// one.
  fileprivate func query(_ options: KeyringOptions) throws(StorageError) -> ItemQuery {
    var query = try query(in: options.place)
    if let id = options.id {
      let accepts = query.accepts
      query.accepts = { $0.path.id == id && accepts($0) }
    }
    return query
  }
}
