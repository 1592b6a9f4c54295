/// Registers a dependency where it is defined.
///
///     @Register var api: any API = Client()
///     @Register var api = { Client() as any API }
///     @Register(.lazy) var api: any API = Client()
///     @Register var screen = { @MainActor in Screen() }
///     @Register var now: @Sendable () -> Date = { Date() }
///     static func register(@Register api: any API = Client()) {}
///
/// A closure without a written type is a builder: what it makes is injected. If the type of the
/// property is written, the value is injected under that type, so the last but one of these
/// registers a function; the name of a function does, too.
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

  /// Registers a value or a builder with a function of this package.
  init(_ value: Value, register: @escaping @Sendable (Value) -> Void) {
    declared = Declared(value, register: register)
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
}

extension InjectStorage {
  /// The instance of a registration, regardless of competing ones.
  fileprivate func instance<Dependency>(
    of registration: Registration<Dependency>, _ location: InjectLocation
  ) -> Dependency {
    do throws(InjectError) {
      return try registration.resolution(in: self, .current, location).build(registration)
    } catch {
      Injection<Dependency>.stop(error)
    }
  }
}
