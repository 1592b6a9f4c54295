extension SecretState {
  /// Carries out a call that reads or writes properties.
  mutating func properties(_ request: Request) throws(Refusal) -> [DBusValue] {
    let arguments = request.arguments ?? []
    guard let interface = arguments.first?.text else {
      throw .invalidArguments("an interface is needed")
    }
    let properties = try properties(of: request.path, interface)
    switch (request.member, arguments.count) {
    case ("GetAll", 1): return [.properties(properties)]
    case ("Get", 2):
      guard let name = arguments[1].text, let value = properties[name] else {
        throw .invalidArguments("there is no such property")
      }
      return [.variant(value)]
    case ("Set", 3):
      guard let name = arguments[1].text, let value = arguments[2].content else {
        throw .invalidArguments("a name and a value are needed")
      }
      try set(name, value, of: request.path)
      return []
    default: throw .unusable(request)
    }
  }

  private func properties(
    of path: String, _ interface: String
  ) throws(Refusal) -> [String: DBusValue] {
    if path == SecretServiceName.root, interface == SecretServiceName.interface("Service") {
      return ["Collections": .paths(visibleCollections.map(\.path))]
    }
    if interface == SecretServiceName.interface("Collection"), let index = collectionIndex(path) {
      let collection = collections[index]
      let foreign = manners.lies.contains(.foreignPaths) ? ["/org/example/secret"] : []
      return [
        "Items": .paths(visibleItems(of: collection).map(\.path) + foreign),
        "Label": .string(collection.label),
        "Locked": .boolean(says(isLocked: collection.isLocked)),
        "Created": .uint64(collection.created), "Modified": .uint64(collection.modified),
      ]
    }
    if interface == SecretServiceName.interface("Item"), let found = itemIndex(path) {
      let collection = collections[found.collection]
      let item = collection.items[found.item]
      return [
        "Locked": .boolean(says(isLocked: collection.isLocked)),
        "Attributes": .attributes(attributes(of: item)), "Label": .string(item.label),
        "Created": .uint64(item.created), "Modified": .uint64(item.modified),
      ]
    }
    throw missing(path)
  }

  private mutating func set(_ name: String, _ value: DBusValue, of path: String) throws(Refusal) {
    if let index = collectionIndex(path) {
      guard name == "Label", let label = value.text else {
        throw .invalidArguments("\(name) can't be set to that")
      }
      collections[index].label = label
      return
    }
    guard let found = itemIndex(path) else { throw missing(path) }
    guard !collections[found.collection].isLocked else { throw .isLocked(path) }
    let signals = manners.signalsPerAttributeChange
    if name == "Label", let label = value.text {
      if label.isEmpty, manners.refusesEmptyLabel { throw .invalidArguments("a label is needed") }
      changeItem(path, signals: signals) { $0.label = label }
    } else if name == "Attributes", let attributes = value.attributes {
      try check(attributes)
      changeItem(path, signals: signals) { $0.attributes = attributes }
    } else {
      throw .invalidArguments("\(name) can't be set to that")
    }
  }
}
