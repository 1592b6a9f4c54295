/// How many instances a registered builder makes, and how long each is kept.
public struct InjectScope: Hashable, Sendable, CustomStringConvertible {
  enum Kind: Hashable {
    case singleton, instance, weak, graph
    case session(String)
  }

  let kind: Kind

  /// One instance, built once even in a race, and kept.
  public static let singleton = InjectScope(kind: .singleton)
  /// A new instance for every read and every `resolve`.
  public static let instance = InjectScope(kind: .instance)
  /// One instance for as long as other code holds it; for classes and actors.
  public static let weak = InjectScope(kind: .weak)
  /// One instance for everything that one outermost `resolve` or read builds.
  public static let graph = InjectScope(kind: .graph)

  /// One instance until the session of this name is reset.
  ///
  /// ``InjectStorage/resetSession(_:)`` ends it, as when a user logs out.
  public static func session(_ name: String) -> InjectScope { InjectScope(kind: .session(name)) }

  /// The scope as written in source.
  public var description: String {
    switch kind {
    case .singleton: "singleton"
    case .instance: "instance"
    case .weak: "weak"
    case .graph: "graph"
    case .session(let name): "session(\"\(name)\")"
    }
  }
}

/// When a registered value is evaluated.
public struct RegisterTiming: Hashable, Sendable {
  private let isLazy: Bool

  /// When the value is needed, and not when it is registered.
  public static let lazy = RegisterTiming(isLazy: true)
}

/// The name of a group of dependencies, which is searched before the general registry.
public typealias DependencyGroupKey = String

/// A qualifier that wins over every other registration that matches.
///
/// A double in a test target conforms to it, and is injected instead of the program's registration.
public protocol Mock {}

/// Takes the errors of injected properties, which can't throw, and may register missing
/// dependencies.
///
/// It runs on the thread that reads the property, while no lock is held.
public typealias InjectErrorClosure = @Sendable (any Error) -> Void
