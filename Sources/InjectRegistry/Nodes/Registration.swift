/// A dependency that was registered, of whatever type.
@usableFromInline
class AnyRegistration: @unchecked Sendable {
  // `type` and `parameters` never change and are for messages alone; `learned` and `dependencies`
  // are guarded by `lock`.
  let type: any Any.Type
  /// The type that its builder takes, or nil.
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

  /// Whether it is a value that is there already.
  var isValue: Bool { false }
  var isAsync: Bool { false }
  /// The value as an instance to look at, if it is there already.
  var anyValue: Any? { nil }

  /// Builds an instance, and gives it up unless its scope keeps it.
  func check(in storage: InjectStorage) throws(InjectError) {}

  /// The same, where the builder may be async.
  func checkAsync(in storage: InjectStorage) async throws(InjectError) {}

  var name: String { InjectRegistry.name(of: type) }

  /// The name and the place, for messages.
  var description: String {
    let group = key.group.map { " in the group \"\($0)\"" } ?? ""
    return "`\(name)`\(group) at \(location)"
  }

  /// Whether an instance of it matches, and whether it is a mock; nil until an instance was seen.
  func answer(to qualifiers: [Qualifier]) -> (matches: Bool, isMock: Bool)? {
    // Outside the lock: looking at an instance may turn out to hold its last reference.
    guard var sample = lock.withLock({ learned }) else { return nil }
    let (answer, isNew) = sample.answer(to: qualifiers)
    if isNew { lock.withLock { learned?.add(sample) } }
    return answer
  }

  /// Remembers what `instance` is.
  ///
  /// - Parameters:
  ///   - instance: what the builder made.
  ///   - isKept: whether it lives as long as the registration anyway; asked under the lock, so that
  ///     who makes it forget meanwhile does so before or after.
  ///   - qualifiers: what is asked of it at the moment.
  func learn(from instance: Any, isKept: () -> Bool, qualifiers: [Qualifier]) {
    lock.withLock {
      var sample = learned ?? Sample(instance)
      sample.see(instance, isKept: isKept(), qualifiers)
      learned = sample
    }
  }

  /// Forgets the instance that it learned from.
  ///
  /// - Returns: what held it, to be given up outside of locks: it may be the last reference.
  func forgetSample() -> Any? {
    lock.withLock {
      defer { learned = nil }
      return learned
    }
  }

  /// The types that its builder was seen to ask for.
  var knownDependencies: Set<ObjectIdentifier> { lock.withLock { dependencies } }

  func add(dependencies new: Set<ObjectIdentifier>) {
    lock.withLock { dependencies.formUnion(new) }
  }
}

/// What is known of the instances of a registration.
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

  /// The answer, and whether something was found out for it.
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

  /// Takes over what a copy of this one has found out.
  mutating func add(_ other: Sample) { answers.merge(other.answers) { old, _ in old } }
}

/// The parameters that a builder is given.
@usableFromInline
final class ParameterBox: Sendable {
  let value: any Sendable
  /// The type that was written, which a builder for it has to take.
  let type: Qualifier

  @usableFromInline init<Value: Sendable>(_ value: Value) {
    self.value = value
    type = Qualifier(type: Value.self)
  }
}

/// How a registration comes by its instances.
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
    let layer = Layer.innermost(of: storage)
    let resolution = Resolution(
      storage.node(Dependency.self, group: key.group), storage, layer, .current, nil, nil)
    _ = try resolution.build(self, depth: depth(in: layer))
  }

  override func checkAsync(in storage: InjectStorage) async throws(InjectError) {
    guard key.parameters == nil else { return }
    let layer = Layer.innermost(of: storage)
    let resolution = Resolution(
      storage.node(Dependency.self, group: key.group), storage, layer, .ofTask, nil, nil)
    _ = try await resolution.buildAsync(self, depth: depth(in: layer))
  }

  /// How deep the layer is that it is registered in.
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
