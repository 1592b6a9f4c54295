/// A registered dependency of any type.
@usableFromInline
class AnyRegistration: @unchecked Sendable {
  // `type` and `parameters` never change and are only for messages; `lock` guards `learned` and
  // `dependencies`.
  let type: any Any.Type
  /// The parameter type of the builder, or nil.
  let parameters: (any Any.Type)?
  let key: EntryKey
  let scope: InjectScope
  let location: InjectLocation
  private let lock = InjectLock()
  private var learned: Sample?
  private var dependencies: Set<ObjectIdentifier> = []

  init(
    _ type: any Any.Type, parameters: (any Any.Type)?, _ key: EntryKey, _ scope: InjectScope,
    _ location: InjectLocation
  ) {
    self.type = type
    self.parameters = parameters
    self.key = key
    self.scope = scope
    self.location = location
  }

  /// Whether it is a value and not a builder.
  var isValue: Bool { false }
  var isAsync: Bool { false }
  /// The value, if it is one.
  var anyValue: Any? { nil }

  /// Builds an instance, and releases it unless its scope keeps it.
  func check(in storage: InjectStorage) throws(InjectError) {}

  /// The same, where the builder may be async.
  func checkAsync(in storage: InjectStorage) async throws(InjectError) {}

  var name: String { InjectRegistry.name(of: type) }

  /// The name and the place, for messages.
  var description: String {
    let group = key.group.map { " in the group \"\($0)\"" } ?? ""
    return "`\(name)`\(group) at \(location)"
  }

  /// Whether its instances match, and whether they are mocks; nil until an instance was seen.
  func answer(to qualifiers: [Qualifier]) -> (matches: Bool, isMock: Bool)? {
    // Outside the lock: the sample may hold the last reference to the instance.
    guard var sample = lock.withLock({ learned }) else { return nil }
    let (answer, isNew) = sample.answer(to: qualifiers)
    if isNew { lock.withLock { learned?.add(sample) } }
    return answer
  }

  /// Remembers the types of `instance`.
  ///
  /// - Parameters:
  ///   - instance: the instance that the builder made.
  ///   - isKept: whether the instance lives as long as the registration anyway; asked under the
  ///     lock, so that a concurrent forget comes entirely before or after.
  ///   - qualifiers: the qualifiers of the current request.
  func learn(from instance: Any, isKept: () -> Bool, qualifiers: [Qualifier]) {
    lock.withLock {
      var sample = learned ?? Sample(instance)
      sample.see(instance, isKept: isKept(), qualifiers)
      learned = sample
    }
  }

  /// Forgets the sample instance.
  ///
  /// - Returns: the object that held it, to be released outside of locks: it may be the last
  ///   reference.
  func forgetSample() -> Any? {
    lock.withLock {
      defer { learned = nil }
      return learned
    }
  }

  /// The types that the builder was seen to ask for.
  var knownDependencies: Set<ObjectIdentifier> { lock.withLock { dependencies } }

  func add(dependencies new: Set<ObjectIdentifier>) {
    lock.withLock { dependencies.formUnion(new) }
  }
}

/// What is known about a registration's instances.
private struct Sample {
  private let isMock: Bool
  private var answers: [ObjectIdentifier: Bool] = [:]
  private var kept: Any?
  private weak var seen: AnyObject?

  init(_ instance: Any) {
    isMock = instance is any Mock
  }

  mutating func see(_ instance: Any, isKept: Bool, _ qualifiers: [Qualifier]) {
    let isObject = Swift.type(of: instance) is AnyClass
    if kept == nil, isKept || !isObject { kept = instance }
    seen = isObject ? instance as AnyObject : nil
    for qualifier in qualifiers { answers[qualifier.id] = qualifier.matches(instance) }
  }

  /// The answer, and whether it is new knowledge.
  mutating func answer(
    to qualifiers: [Qualifier]
  ) -> (answer: (matches: Bool, isMock: Bool)?, isNew: Bool) {
    var (matches, isNew) = (true, false)
    for qualifier in qualifiers {
      if let known = answers[qualifier.id] {
        matches = matches && known
      } else if let instance = kept ?? seen {
        let found = qualifier.matches(instance)
        answers[qualifier.id] = found
        isNew = true
        matches = matches && found
      } else {
        return (nil, isNew)
      }
    }
    return ((matches, isMock), isNew)
  }

  /// Adds the knowledge of a copy of this sample.
  mutating func add(_ other: Sample) { answers.merge(other.answers) { old, _ in old } }
}

/// The parameters for a builder.
@usableFromInline
final class ParameterBox: Sendable {
  let value: any Sendable
  /// The declared type of the parameters, which the builder must take.
  let type: Qualifier

  @usableFromInline init<Value: Sendable>(_ value: Value) {
    self.value = value
    type = Qualifier(type: Value.self)
  }
}

/// How a registration makes its instances.
enum Maker<Dependency: Sendable>: Sendable {
  case value(Dependency)
  case builder(@Sendable () throws -> Dependency)
  case asyncBuilder(@Sendable () async throws -> Dependency)
  case parametrised(@Sendable (any Sendable) throws -> Dependency)
  case asyncParametrised(@Sendable (any Sendable) async throws -> Dependency)
}

/// A dependency that was registered.
final class Registration<Dependency: Sendable>: AnyRegistration, @unchecked Sendable {
  // Adds only constants.
  let maker: Maker<Dependency>

  init(
    _ maker: Maker<Dependency>, parameters: (any Any.Type)? = nil, group: String?,
    scope: InjectScope, _ location: InjectLocation, shownAs type: (any Any.Type)? = nil
  ) {
    self.maker = maker
    super.init(
      type ?? Dependency.self, parameters: parameters,
      EntryKey(Dependency.self, parameters: parameters, group: group), scope, location)
  }

  override var isValue: Bool {
    if case .value = maker { true } else { false }
  }

  override var isAsync: Bool {
    switch maker {
    case .asyncBuilder, .asyncParametrised: true
    default: false
    }
  }

  override var anyValue: Any? {
    if case .value(let value) = maker { value } else { nil }
  }

  override func check(in storage: InjectStorage) throws(InjectError) {
    guard key.parameters == nil else { return }
    _ = try resolution(in: storage, .current).build(self)
  }

  override func checkAsync(in storage: InjectStorage) async throws(InjectError) {
    guard key.parameters == nil else { return }
    _ = try await resolution(in: storage, .ofTask).buildAsync(self)
  }

  /// A search that need not find it, for its instance.
  func resolution(
    in storage: InjectStorage, _ chain: Chain, _ location: InjectLocation? = nil
  ) -> Resolution<Dependency> {
    let node = storage.node(Dependency.self, group: key.group)
    return Resolution(node, storage, Layer.innermost(of: storage), chain, nil, location)
  }

  /// The depth of the layer in which it is registered.
  func depth(in layer: Layer?) -> Int {
    var layer = layer
    while let current = layer {
      if current.registry.registrations(for: key).contains(where: { $0 === self }) {
        return current.depth
      }
      layer = current.below
    }
    return 0
  }
}
