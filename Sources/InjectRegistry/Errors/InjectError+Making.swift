extension InjectError {
  static func notFound(
    _ subject: Subject, path: [String], node: AnyNode, parameters: Qualifier?,
    registered: [(registration: AnyRegistration, instance: Any?)]
  ) -> InjectError {
    let near = registered.compactMap { registration, instance in
      NearMiss(registration, instance, node, parameters, subject).description
    }
    let asked = shortened(subject.dependency)
    let value = isFunction(node.type) ? "{ ... }" : "YourImplementation()"
    var advice = ["@Register var dependency: \(asked) = \(value)"]
    if let parameters {
      advice = [
        "@Register var builder = { (parameters: \(shortened(parameters.name))) in",
        "  YourImplementation(parameters) as \(asked) }",
      ]
    }
    advice += [
      "Run this before the dependency is injected, or in InjectStorage.standard.errorClosure,",
      "which is called when a dependency is missing",
    ]
    return InjectError(.notFound, subject, path: path, candidates: near, advice: advice)
  }

  static func moreThanOne(
    _ subject: Subject, path: [String], _ registrations: [AnyRegistration]
  ) -> InjectError {
    let asked = shortened(subject.dependency)
    return InjectError(
      .moreThanOne, subject, path: path, candidates: registrations.map(\.description),
      advice: [
        "remove all registrations but one; or choose one by a type or protocol that only this one has:",
        "@Inject(Special.self) var dependency: \(optional(asked))",
        "or by its group; in tests, a double that conforms to Mock is chosen",
      ])
  }

  /// `path` leads from a builder back to itself.
  static func cycle(_ subject: Subject, _ path: [AnyRegistration]) -> InjectError {
    let last = path.dropLast().last.map { shortened($0.name) } ?? "one of them"
    return InjectError(
      .cycle, subject, path: path.map(\.name), candidates: path.dropLast().map(\.description),
      advice: [
        "let \(last) resolve its dependency when it uses it, and not in its initialiser:",
        "an @Inject property is resolved at each read",
      ])
  }

  static func builderFailed(
    _ subject: Subject, path: [String], _ registration: AnyRegistration, _ error: any Error
  ) -> InjectError {
    InjectError(
      .builderFailed, subject, path: path, candidates: [registration.description],
      advice: ["fix the cause of the builder's error; the next resolve runs the builder again"],
      underlying: error)
  }

  static func needsAwait(_ subject: Subject, _ registration: AnyRegistration) -> InjectError {
    InjectError(
      .needsAwait, subject, candidates: [registration.description],
      advice: [
        "await it once before it is read, for example at the start of the program:",
        "try await InjectStorage.standard.resolveAsync(\(metatype(subject.dependency)))",
      ])
  }

  static func wrongScope(
    _ subject: Subject, _ registration: AnyRegistration, _ reason: String, _ advice: String
  ) -> InjectError {
    InjectError(
      .wrongScope, subject, candidates: ["\(registration.description): \(reason)"],
      advice: [advice])
  }

  static func liveInTest(
    _ subject: Subject, path: [String], _ registration: AnyRegistration
  ) -> InjectError {
    let asked = shortened(subject.dependency)
    return InjectError(
      .liveInTest, subject, path: path, candidates: [registration.description],
      advice: [
        "give the test a double:",
        ".injecting { @Register var double: \(asked) = YourDouble() }",
      ])
  }

  static func slow(
    _ subject: Subject, path: [String], _ registration: AnyRegistration
  ) -> InjectError {
    InjectError(
      .slowBuilder, subject, path: path, candidates: [registration.description],
      advice: [
        "a builder never ends if it waits for a thread that waits for this dependency:",
        "don't block in the builder. If the builder only takes long, raise",
        "InjectDiagnostics.patience",
      ])
  }

  /// Turns a builder's error into the error for the caller that resolves.
  ///
  /// A cycle stays a cycle, and errors that the caller must fix stay as they are.
  static func of(
    _ error: any Error, _ subject: Subject, path: [String], _ registration: AnyRegistration
  ) -> InjectError {
    if let error = error as? InjectError {
      switch error.code {
      case .cycle, .needsAwait, .wrongScope, .liveInTest: return error
      default: break
      }
    }
    return builderFailed(subject, path: path, registration, error)
  }

  /// `any Shop.API` as it is written in source: `any API`.
  private static func shortened(_ name: String) -> String {
    var words: [String] = []
    for word in name.split(separator: " ") {
      let isPlain = word.allSatisfy { $0 == "." || $0 == "_" || $0.isLetter || $0.isNumber }
      words.append(String(isPlain ? word.split(separator: ".").last ?? word : word))
    }
    return words.joined(separator: " ")
  }

  private static func optional(_ name: String) -> String {
    name.contains(" ") ? "(\(name))?" : "\(name)?"
  }

  private static func metatype(_ name: String) -> String {
    let name = shortened(name)
    return name.contains(" ") ? "(\(name)).self" : "\(name).self"
  }
}
