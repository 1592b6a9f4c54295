extension SecretState {
  /// Carries out a call of the service's own methods.
  mutating func service(_ request: Request) throws(Refusal) -> [DBusValue] {
    guard request.path == SecretServiceName.root else { throw missing(request.path) }
    let arguments = request.arguments ?? []
    switch (request.member, arguments.count) {
    case ("OpenSession", 2): return try openSession(arguments[0].text)
    case ("CreateCollection", 2): return try createCollection(request, arguments)
    case ("SearchItems", 1): return try searchItems(arguments[0].attributes)
    case ("Unlock", 1): return try setLocked(false, request, arguments[0].paths)
    case ("Lock", 1): return try setLocked(true, request, arguments[0].paths)
    case ("GetSecrets", 2):
      return try [getSecrets(arguments[0].paths, session: arguments[1].text)]
    case ("ReadAlias", 1):
      return [.objectPath(arguments[0].text.flatMap { target(ofAlias: $0) } ?? "/")]
    case ("SetAlias", 2): return try setAlias(arguments[0].text, arguments[1].text)
    default: throw .unusable(request)
    }
  }

  private mutating func openSession(_ algorithm: String?) throws(Refusal) -> [DBusValue] {
    if manners.failingSessions > 0 {
      manners.failingSessions -= 1
      throw .invalidArguments("no session this time")
    }
    guard algorithm == "plain" else { throw .notSupported("the algorithm is not known") }
    let path = SecretServiceName.root + "/session/s\(nextNumber())"
    sessions.insert(path)
    if manners.foreignKeys > 0 {
      manners.foreignKeys -= 1
      foreignSessions.insert(path)
    }
    return [.variant(.string("")), .objectPath(path)]
  }

  private mutating func createCollection(
    _ request: Request, _ arguments: [DBusValue]
  ) throws(Refusal) -> [DBusValue] {
    guard let properties = arguments[0].properties, let alias = arguments[1].text else {
      throw .invalidArguments("properties and an alias are needed")
    }
    let label = properties[SecretServiceName.interface("Collection") + ".Label"]?.text ?? ""
    return prompting(.createCollection, request, orElse: .objectPath("/")) { state in
      .objectPath(state.makeCollection(label: label, alias: alias))
    }
  }

  private func searchItems(_ attributes: [String: String]?) throws(Refusal) -> [DBusValue] {
    guard let attributes else { throw .invalidArguments("attributes are needed") }
    try check(attributes)
    var (unlocked, locked): ([String], [String]) = ([], [])
    for collection in visibleCollections {
      for path in search(collection, attributes) {
        let isLocked = collection.isLocked || lockedItems.contains(path)
        if says(isLocked: isLocked) { locked.append(path) } else { unlocked.append(path) }
      }
    }
    return [.paths(unlocked), .paths(locked)]
  }

  /// Locks or unlocks collections, given by their paths or by those of items in them.
  private mutating func setLocked(
    _ isLocked: Bool, _ request: Request, _ paths: [String]?
  ) throws(Refusal) -> [DBusValue] {
    guard let paths else { throw .invalidArguments("objects are needed") }
    var (done, waiting): ([String], [String: String]) = ([], [:])
    for path in paths {
      let index = collectionIndex(path) ?? itemIndex(path)?.collection
      guard let index else { continue }
      if collections[index].isLocked == isLocked, isLocked || !lockedItems.contains(path) {
        done.append(path)
      } else {
        waiting[path] = collections[index].path
      }
    }
    guard !waiting.isEmpty else { return [.paths(done), .objectPath("/")] }
    let change: @Sendable (inout SecretState) -> DBusValue = { [waiting] state in
      for collection in waiting.values { state.setLocked(isLocked, collection) }
      if !isLocked { state.lockedItems.subtract(waiting.keys) }
      return .paths(waiting.keys.sorted())
    }
    guard manners.prompts.contains(isLocked ? .lock : .unlock) else {
      let changed = change(&self).paths ?? []
      return [.paths(done + changed), .objectPath("/")]
    }
    return [.paths(done), .objectPath(addPrompt(request, orElse: .paths([]), change))]
  }

  private func getSecrets(_ paths: [String]?, session: String?) throws(Refusal) -> DBusValue {
    guard let paths, let session else { throw .invalidArguments("items and a session are needed") }
    guard sessions.contains(session) else { throw .noSession }
    var asked = paths
    if manners.lies.contains(.missingSecrets) { asked = asked.dropLast() }
    if manners.lies.contains(.extraSecrets) {
      let others = visibleCollections.flatMap { visibleItems(of: $0) }.map(\.path)
      asked.append(contentsOf: others.first { !paths.contains($0) }.map { [$0] } ?? [])
    }
    var secrets: [DBusValue] = []
    for path in asked {
      guard let found = itemIndex(path) else {
        guard let error = manners.missingSecretError else { continue }
        throw Refusal(name: error, message: "there is no \(path)")
      }
      let collection = collections[found.collection]
      let isLocked = isLocked(collection.items[found.item], in: collection)
      if isLocked, manners.refusesSecretsForLocked { throw .isLocked(path) }
      if isLocked, manners.lockedItems != .empty { continue }
      secrets.append(.entry(.objectPath(path), secret(found, session: session)))
    }
    return .array(secrets, of: "{o(oayays)}")
  }

  private mutating func setAlias(_ name: String?, _ path: String?) throws(Refusal) -> [DBusValue] {
    guard let name, let path else { throw .invalidArguments("a name and a path are needed") }
    if path == "/" {
      aliases[name] = nil
    } else if let index = collectionIndex(path) {
      aliases[name] = collections[index].path
    } else {
      throw Refusal(
        name: "org.freedesktop.Secret.Error.NoSuchObject", message: "there is no \(path)")
    }
    return []
  }
}
