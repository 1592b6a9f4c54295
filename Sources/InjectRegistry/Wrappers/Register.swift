/// Registers a dependency where it is defined.
///
///     @Register var api: any API = Client()
///     @Register var api = { Client() as any API }
///     @Register(.lazy) var api: any API = Client()
///     static func register(@Register api: any API = Client()) {}
///
/// It registers when the property is made: when its function runs, or when the value that it
/// belongs to is made. The declaration is the place of the registration. Making it again replaces
/// the earlier registration; another declaration for the same type is ambiguous, unless a
/// qualifier, a group or ``Mock`` decides. Registered types must be Sendable.
@propertyWrapper
public struct Register<Value: Sendable>: Sendable {
  private let declared: Declared<Value>

  /// The value or builder that was registered.
  ///
  /// With `.lazy`, reading it resolves the registration. If that fails, the process stops with the
  /// error. Assigning replaces this declaration's value or builder, in the same group and scope; a
  /// value that is assigned to a `.lazy` one is the same for all.
  public var wrappedValue: Value {
    get { declared.value }
    nonmutating set { declared.replace(newValue) }
  }

  /// Registers a value, which is evaluated now.
  ///
  /// - Parameters:
  ///   - wrappedValue: the value, which all share.
  ///   - group: the group to register it in, or nil for the general registry.
  ///   - fileID: the place of the registration.
  ///   - line: its line.
  ///   - column: its column.
  @_disfavoredOverload  // A closure is a builder, and not a value.
  public init(
    wrappedValue: Value, group: DependencyGroupKey? = nil,
    fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column
  ) {
    declared = Declared(wrappedValue) {
      InjectStorage.standard.register(
        $0, group: group, fileID: fileID, line: line, column: column)
    }
  }

  /// Registers a value, which is evaluated when it is needed.
  ///
  /// Not for the parameter of a function: give that a builder.
  ///
  /// - Parameters:
  ///   - wrappedValue: the value.
  ///   - timing: `.lazy`.
  ///   - scope: how often it is evaluated, and how long an instance is kept.
  ///   - group: the group to register it in, or nil for the general registry.
  ///   - fileID: the place of the registration.
  ///   - line: its line.
  ///   - column: its column.
  public init(
    wrappedValue: @autoclosure @escaping @Sendable () -> Value, _ timing: RegisterTiming,
    scope: InjectScope = .singleton, group: DependencyGroupKey? = nil,
    fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column
  ) {
    let location = InjectLocation(fileID: fileID, line: line, column: column)
    let registration = Registration(
      Maker.builder(wrappedValue), group: group, scope: scope, location)
    InjectStorage.standard.add(registration)
    declared = Declared(
      lazy: { InjectStorage.standard.instance(of: registration, location) },
      register: {
        InjectStorage.standard.register(
          $0, group: group, fileID: fileID, line: line, column: column)
      })
  }

  /// Registers a builder, which runs when the dependency is needed.
  ///
  /// - Parameters:
  ///   - wrappedValue: makes an instance, of the type that it is injected as.
  ///   - scope: how many instances it makes, and how long they are kept.
  ///   - group: the group to register it in, or nil for the general registry.
  ///   - fileID: the place of the registration.
  ///   - line: its line.
  ///   - column: its column.
  public init<Dependency: Sendable, Failure: Error>(
    wrappedValue: Value, scope: InjectScope = .singleton, group: DependencyGroupKey? = nil,
    fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column
  ) where Value == @Sendable () throws(Failure) -> Dependency {
    declared = Declared(wrappedValue) {
      InjectStorage.standard.register(
        scope: scope, group: group, fileID: fileID, line: line, column: column, $0)
    }
  }

  /// Registers an async builder; its dependency is resolved with `await`, and without `await` once
  /// it is kept.
  ///
  /// - Parameters:
  ///   - wrappedValue: makes an instance, of the type that it is injected as.
  ///   - scope: how many instances it makes, and how long they are kept.
  ///   - group: the group to register it in, or nil for the general registry.
  ///   - fileID: the place of the registration.
  ///   - line: its line.
  ///   - column: its column.
  public init<Dependency: Sendable>(
    wrappedValue: Value, scope: InjectScope = .singleton, group: DependencyGroupKey? = nil,
    fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column
  ) where Value == @Sendable () async throws -> Dependency {
    declared = Declared(wrappedValue) {
      InjectStorage.standard.register(
        scope: scope, group: group, fileID: fileID, line: line, column: column, $0)
    }
  }

  /// Registers a builder that is given parameters, and makes a new instance each time.
  ///
  /// - Parameters:
  ///   - wrappedValue: makes an instance, of the type that it is injected as.
  ///   - group: the group to register it in, or nil for the general registry.
  ///   - fileID: the place of the registration.
  ///   - line: its line.
  ///   - column: its column.
  public init<Parameters: Sendable, Dependency: Sendable, Failure: Error>(
    wrappedValue: Value, group: DependencyGroupKey? = nil,
    fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column
  ) where Value == @Sendable (Parameters) throws(Failure) -> Dependency {
    declared = Declared(wrappedValue) {
      InjectStorage.standard.register(
        group: group, fileID: fileID, line: line, column: column, $0)
    }
  }

  /// Registers an async builder that is given parameters, and makes a new instance each time.
  ///
  /// - Parameters:
  ///   - wrappedValue: makes an instance, of the type that it is injected as.
  ///   - group: the group to register it in, or nil for the general registry.
  ///   - fileID: the place of the registration.
  ///   - line: its line.
  ///   - column: its column.
  public init<Parameters: Sendable, Dependency: Sendable>(
    wrappedValue: Value, group: DependencyGroupKey? = nil,
    fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column
  ) where Value == @Sendable (Parameters) async throws -> Dependency {
    declared = Declared(wrappedValue) {
      InjectStorage.standard.register(
        group: group, fileID: fileID, line: line, column: column, $0)
    }
  }
}

extension InjectStorage {
  /// The instance of a registration, regardless of competing ones.
  fileprivate func instance<Dependency>(
    of registration: Registration<Dependency>, _ location: InjectLocation
  ) -> Dependency {
    do throws(InjectError) {
      let layer = Layer.innermost(of: self)
      return try Resolution(
        node(Dependency.self, group: registration.key.group), self, layer, .current, nil, location
      ).build(registration, depth: registration.depth(in: layer))
    } catch {
      Injection<Dependency>.stop(error)
    }
  }
}
