/// What registrations compete for: a type, the type of the parameters, a group.
///
/// Types are compared by identity, so two that print alike are two keys.
struct EntryKey: Hashable, Sendable {
  let type: ObjectIdentifier
  let parameters: ObjectIdentifier?
  let group: String?

  init(_ type: any Any.Type, parameters: (any Any.Type)? = nil, group: String? = nil) {
    self.type = ObjectIdentifier(type)
    self.parameters = parameters.map { ObjectIdentifier($0) }
    self.group = group
  }

  private init(_ key: EntryKey, group: String?) {
    type = key.type
    parameters = key.parameters
    self.group = group
  }

  /// The same without the group.
  var general: EntryKey { EntryKey(self, group: nil) }
}

/// What an injection asks for: one node for each.
struct NodeKey: Hashable, Sendable {
  let entry: EntryKey
  /// In the order of their identities, each once.
  let qualifiers: [ObjectIdentifier]
  /// The scope asked for, or nil for the registered one.
  let scope: InjectScope?
}

/// A type or protocol that the instance has to be of.
struct Qualifier: @unchecked Sendable {
  // A metatype never changes. It isn't Sendable only because a conformance may belong to an actor,
  // and asking whether an instance conforms uses none.
  let type: any Any.Type

  var id: ObjectIdentifier { ObjectIdentifier(type) }
  var name: String { InjectRegistry.name(of: type) }

  /// Whether `instance` is of the type, or conforms to the protocol.
  ///
  /// The metatype is opened, and the instance cast to what comes out: for a protocol that is its
  /// existential type, and casting to that looks for the conformance.
  func matches(_ instance: Any) -> Bool {
    func isOfOpened<Opened>(_ type: Opened.Type) -> Bool { instance is Opened }
    // A constant is opened, a property is not.
    let type = type
    return isOfOpened(type)
  }
}
