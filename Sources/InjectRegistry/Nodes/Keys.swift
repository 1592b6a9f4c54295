/// The key that registrations compete for: a type, the type of the parameters, a group.
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

/// The key of an injection's request; each key has one node.
struct NodeKey: Hashable, Sendable {
  let entry: EntryKey
  /// In the order of their identities, each once.
  let qualifiers: [ObjectIdentifier]
  /// The scope asked for, or nil for the registered one.
  let scope: InjectScope?

  /// The session whose instance is asked for, or nil.
  var session: String? {
    if case .session(let name)? = scope?.kind { name } else { nil }
  }
}

/// A type that the instance must have, or a protocol that it must conform to.
struct Qualifier: @unchecked Sendable {
  // A metatype never changes. It is not Sendable only because a conformance may belong to an actor;
  // asking whether an instance conforms uses no conformance.
  let type: any Any.Type

  var id: ObjectIdentifier { ObjectIdentifier(type) }
  var name: String { InjectRegistry.name(of: type) }

  /// Whether `instance` is of the type, or conforms to the protocol.
  ///
  /// The metatype is opened, and the instance is cast to the opened type: for a protocol, this is
  /// its existential type, and the cast looks for the conformance.
  func matches(_ instance: Any) -> Bool {
    func isOfOpened<Opened>(_ type: Opened.Type) -> Bool { instance is Opened }
    // Swift opens a constant, but not a property.
    let type = type
    return isOfOpened(type)
  }
}
