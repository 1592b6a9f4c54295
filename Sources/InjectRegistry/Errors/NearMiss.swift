/// Why a registration nearly matches, but does not, as far as this is known without building
/// anything.
struct NearMiss {
  let registration: AnyRegistration
  /// An instance that the registration has built before, or its value.
  private let instance: Any?
  let node: AnyNode
  private let parameters: Qualifier?
  let subject: InjectError.Subject

  init(
    _ registration: AnyRegistration, _ instance: Any?, _ node: AnyNode, _ parameters: Qualifier?,
    _ subject: InjectError.Subject
  ) {
    self.registration = registration
    self.instance = instance
    self.node = node
    self.parameters = parameters
    self.subject = subject
  }

  /// The registration, and why it does not match; nil when it is no near miss.
  var description: String? {
    let isOfType = registration.key.type == node.key.entry.type
    guard let reason = isOfType ? reasonOfOneType : reasonOfTwoTypes else { return nil }
    return reason.isEmpty ? "\(registration.description)" : "\(registration.description): \(reason)"
  }

  private var reasonOfOneType: String {
    if registration.key.parameters != node.key.entry.parameters {
      guard let taken = registration.parameters.map(name(of:)) else {
        // `@Inject("shop")` is no group.
        return "its builder takes no parameters"
          + (parameters?.id == ObjectIdentifier(String.self)
            ? "; to name a group, write group: \"...\"" : "")
      }
      return parameters == nil
        ? "its builder takes parameters, `\(taken)`; inject it with @InjectWith(parameters)"
        : "its builder takes parameters of another type, `\(taken)`"
    }
    if let group = registration.key.group, group != subject.group {
      return (subject.group == nil ? "in a group" : "in another group")
        + "; inject it with group: \"\(group)\""
    }
    return subject.qualifiers.isEmpty
      ? "" : "it is not \(subject.qualifiers.joined(separator: " and "))"
  }

  private var reasonOfTwoTypes: String? {
    let registered = registration.name
    if let reason = reasonOfFunctions { return reason }
    if let name = Self.lastName(registered), name == Self.lastName(subject.dependency) {
      return "another type of the same name"
    }
    if Self.wrapped(registration.type) == ObjectIdentifier(node.type) {
      return "it is optional; register it as \(subject.dependency)"
    }
    if Self.wrapped(node.type) == registration.key.type {
      return "it is not optional; inject it as \(registered)"
    }
    if hasOtherLabels {
      return "a tuple with other labels; inject it as \(registered)"
    }
    if instance.map(node.isOfType) ?? Self.fits(registration.type, node.type) {
      return "it fits the requested type; register it as \(subject.dependency)"
    }
    if instance == nil, Self.fits(node.type, registration.type) {
      return "it may fit the requested type; inject it as \(registered), or register it as "
        + subject.dependency
    }
    return nil
  }

  /// The name of a type without its surroundings; nil for a generic type, and for a metatype.
  private static func lastName(_ name: String) -> Substring? {
    let last = name.split(separator: ".").last
    let isOther = name.contains("<") || name.contains(" ")
    return isOther || last == "Type" || last == "Protocol" ? nil : last
  }

  /// The wrapped type of an optional type.
  private static func wrapped(_ type: any Any.Type) -> ObjectIdentifier? {
    (type as? any AnyOptional.Type).map { ObjectIdentifier($0.wrapped) }
  }

  /// Whether instances of the first type are also of the second: the first is a subclass, or
  /// conforms, or is a composition with more parts.
  ///
  /// This is not known for private and local protocols.
  private static func fits(_ type: any Any.Type, _ other: any Any.Type) -> Bool {
    func isSubclass<Other>(of other: Other.Type) -> Bool { type is Other.Type }
    if isSubclass(of: other) { return true }
    if let parts = protocols(of: type), let others = protocols(of: other) {
      return parts.isSuperset(of: others)
    }
    // A type conforms if it is an instance of the existential metatype, `any P.Type`. Generic code
    // can't name that metatype: there, `Other.Type` is only the type of `(any P).self`. But its
    // mangled name is known: https://github.com/swiftlang/swift/blob/main/docs/ABI/Mangling.rst,
    // `type 'Xp'`. The runtime must not be asked for types that are no protocols; their names end
    // otherwise.
    guard let name = _mangledTypeName(other), ["p", "Xl", "Xc"].contains(where: name.hasSuffix),
      let metatype = _typeByName(name + "Xp")
    else { return false }
    func isOne<Metatype>(of metatype: Metatype.Type) -> Bool { (type as Any) is Metatype }
    return isOne(of: metatype)
  }

  /// The names of the parts of an existential type, `any P & Q`; nil for other types.
  private static func protocols(of type: any Any.Type) -> Set<Substring>? {
    let name = name(of: type)
    guard name.hasPrefix("any ") else { return nil }
    return Set(name.dropFirst(4).split(separator: " & ").map { $0[...] })
  }
}

/// Gives the wrapped type of an optional.
private protocol AnyOptional {
  static var wrapped: any Any.Type { get }
}

extension Optional: AnyOptional {
  fileprivate static var wrapped: any Any.Type { Wrapped.self }
}
