extension SecretState {
  /// Carries out a call of a collection's methods.
  mutating func collection(_ request: Request) throws(Refusal) -> [DBusValue] {
    guard let index = collectionIndex(request.path) else { throw missing(request.path) }
    let arguments = request.arguments ?? []
    switch (request.member, arguments.count) {
    case ("Delete", 0):
      let path = collections[index].path
      let answer = prompting(.deleteCollection, request, orElse: .string("")) { state in
        state.removeCollection(path)
        return .string("")
      }
      return [answer[1]]
    case ("SearchItems", 1):
      guard let attributes = arguments[0].attributes else {
        throw .invalidArguments("attributes are needed")
      }
      try check(attributes)
      return [.paths(search(collections[index], attributes))]
    case ("CreateItem", 3): return try createItem(request, index, arguments)
    default: throw .unusable(request)
    }
  }

  private mutating func createItem(
    _ request: Request, _ index: Int, _ arguments: [DBusValue]
  ) throws(Refusal) -> [DBusValue] {
    guard let properties = arguments[0].properties, let replaces = arguments[2].boolean else {
      throw .invalidArguments("properties, a secret and a boolean are needed")
    }
    let interface = SecretServiceName.interface("Item")
    let label = properties[interface + ".Label"]?.text ?? ""
    let attributes = properties[interface + ".Attributes"]?.attributes ?? [:]
    let collection = collections[index]
    guard !collection.isLocked else { throw .isLocked(collection.path) }
    if label.isEmpty, manners.refusesEmptyLabel { throw .invalidArguments("a label is needed") }
    try check(attributes)
    if foreignSessions.contains(arguments[1].elements?.first?.text ?? "") {
      // As KWallet does: it makes the item before it finds that it can't read the secret.
      let item = Item(
        path: "\(collection.path)/\(nextNumber())", label: label, attributes: attributes,
        secret: [], contentType: "", created: Self.now, modified: Self.now)
      if !replaces || search(collection, attributes).isEmpty { addItem(item, to: index) }
    }
    let (secret, contentType) = try readSecret(arguments[1])
    return prompting(.createItem, request, orElse: .objectPath("/")) { state in
      let item = Item(
        path: "\(collection.path)/\(state.nextNumber())", label: label, attributes: attributes,
        secret: secret, contentType: contentType, created: Self.now, modified: Self.now)
      return .objectPath(state.store(item, in: collection.path, replaces: replaces))
    }
  }

  /// Keeps an item, in the place of another one if that is allowed.
  ///
  /// - Returns: its path.
  private mutating func store(_ item: Item, in path: String, replaces: Bool) -> String {
    guard !manners.storesNothing, let index = collectionIndex(path) else { return item.path }
    let old = collections[index].items.first { old in
      if !manners.replacesSupersets { return old.attributes == item.attributes }
      let attributes = self.attributes(of: old)
      return item.attributes.allSatisfy { attributes[$0.key] == $0.value }
    }
    guard replaces, let old else {
      addItem(item, to: index)
      return item.path
    }
    changeItem(old.path, signals: manners.signalsPerSecretChange) { old in
      old.label = item.label
      old.attributes = item.attributes
      old.secret = item.secret
      old.contentType = item.contentType
    }
    return old.path
  }

  /// Refuses attributes that are not to be stored or searched for.
  func check(_ attributes: [String: String]) throws(Refusal) {
    for (name, value) in attributes {
      if manners.refusedAttributes.contains(name) {
        throw .invalidArguments("the attribute \(name) is not allowed")
      }
      if manners.refusedValues.contains(where: { value.contains($0) }) {
        throw .invalidArguments("the value of \(name) is not allowed")
      }
    }
  }
}
