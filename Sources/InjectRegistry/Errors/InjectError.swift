/// Why a dependency could not be injected.
///
/// It names the type, the qualifiers, the group and both places in source, and says how to fix it.
/// `if case InjectError.notFound = error` tests the kind of any error.
public struct InjectError: Error, Sendable {
  /// A kind of failure that a caller can act on.
  ///
  /// New kinds may be added later.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    /// The name of the code, as written in source.
    public let description: String

    private init(_ name: String) { description = name }

    /// Nothing that is registered matches.
    public static let notFound = Code("notFound")
    /// Several registrations match, and nothing decides between them.
    public static let moreThanOne = Code("moreThanOne")
    /// A builder needs what is being built.
    public static let cycle = Code("cycle")
    /// A builder threw an error.
    public static let builderFailed = Code("builderFailed")
    /// The builder is async, and was not awaited yet.
    public static let needsAwait = Code("needsAwait")
    /// This registration can't provide the scope.
    public static let wrongScope = Code("wrongScope")
    /// A strict test used a dependency that it has no double for.
    public static let liveInTest = Code("liveInTest")
    /// A builder takes long while others wait for it; the wait continues.
    public static let slowBuilder = Code("slowBuilder")
  }

  /// Nothing that is registered matches.
  public static let notFound = Code.notFound
  /// Several registrations match, and nothing decides between them.
  public static let moreThanOne = Code.moreThanOne
  /// A builder needs what is being built.
  public static let cycle = Code.cycle
  /// A builder threw an error.
  public static let builderFailed = Code.builderFailed

  /// The parts, in one object, so that an error is one word wherever it is thrown.
  private final class Details: Sendable {
    let code: Code
    let subject: Subject
    let path: [String]
    let candidates: [String]
    let advice: [String]
    let underlying: (any Error)?
    let isReported: Bool

    init(
      _ code: Code, _ subject: Subject, _ path: [String], _ candidates: [String],
      _ advice: [String], _ underlying: (any Error)?, _ isReported: Bool
    ) {
      self.code = code
      self.subject = subject
      self.path = path
      self.candidates = candidates
      self.advice = advice
      self.underlying = underlying
      self.isReported = isReported
    }
  }

  /// The requested dependency, and the place of the request.
  struct Subject: Sendable {
    var dependency: String
    var qualifiers: [String] = []
    var group: String?
    var location: InjectLocation?
  }

  private let details: Details

  init(
    _ code: Code, _ subject: Subject, path: [String] = [], candidates: [String] = [],
    advice: [String], underlying: (any Error)? = nil, isReported: Bool = false
  ) {
    details = Details(code, subject, path, candidates, advice, underlying, isReported)
  }

  /// The kind of failure, for callers to act on.
  public var code: Code { details.code }
  /// The requested type, with its module.
  public var dependency: String { details.subject.dependency }
  /// The requested qualifiers.
  public var qualifiers: [String] { details.subject.qualifiers }
  /// The requested group, or nil.
  public var group: DependencyGroupKey? { details.subject.group }
  /// Where the dependency is injected, or nil if that is not known.
  public var location: InjectLocation? { details.subject.location }
  /// The builders that were running, outermost first.
  ///
  /// For a cycle, the first is also the last.
  public var path: [String] { details.path }
  /// The registrations that match, or nearly match.
  public var candidates: [String] { details.candidates }
  /// The error that a builder threw, or nil.
  public var underlying: (any Error)? { details.underlying }

  /// The same error, injected at `location` if none is known yet.
  func at(_ location: InjectLocation?) -> InjectError {
    guard self.location == nil, let location else { return self }
    var subject = details.subject
    subject.location = location
    return InjectError(
      code, subject, path: path, candidates: candidates, advice: details.advice,
      underlying: underlying, isReported: details.isReported)
  }

  /// A builder's error, as it is given to those that waited for the builder.
  func passed(to subject: Subject, path: [String]) -> InjectError {
    guard code == .builderFailed else { return self }
    return InjectError(
      code, subject, path: path, candidates: candidates, advice: details.advice,
      underlying: underlying, isReported: details.isReported)
  }

  /// Whether a builder at any depth ended because its task was cancelled.
  var isCancellation: Bool {
    underlying is CancellationError || (underlying as? InjectError)?.isCancellation == true
  }

  /// The same error, marked as reported to a strict test.
  var reported: InjectError {
    InjectError(
      code, details.subject, path: path, candidates: candidates, advice: details.advice,
      underlying: underlying, isReported: true)
  }

  /// Whether this error, or the error that it passes on, was reported to a strict test.
  var isReported: Bool { details.isReported || (underlying as? InjectError)?.isReported == true }
}

extension InjectError: CustomStringConvertible {
  /// Lines of text: what happened, where, the registrations, and how to fix the problem.
  public var description: String {
    let place = location.map { ["\($0)"] } ?? []
    let running = path.isEmpty ? [] : [path.joined(separator: " -> ")]
    let cause = underlying.map { [indented("\($0)")] } ?? []
    let parts = [
      ("injected at", place), ("while building", running), ("its error", cause),
      ("registered", candidates), ("how to fix it", details.advice),
    ]
    var lines = [headline]
    for (label, texts) in parts {
      for (index, text) in texts.enumerated() {
        let shown = index == 0 ? label : ""
        lines.append("  " + shown + String(repeating: " ", count: 16 - shown.count) + text)
      }
    }
    return lines.joined(separator: "\n")
  }

  private func indented(_ text: String) -> String {
    text.split(separator: "\n", omittingEmptySubsequences: false).joined(separator: "\n  ")
  }

  private var headline: String {
    let what = "`\(dependency)`" + conditions
    switch code {
    case .notFound: return "notFound: nothing is registered for \(what)"
    case .moreThanOne:
      return "moreThanOne: \(candidates.count) registrations match \(what), and none is preferred"
    case .cycle: return "cycle: \(what) can't be built, because its builder needs it"
    case .builderFailed: return "builderFailed: the builder of \(what) threw an error"
    case .needsAwait: return "needsAwait: the builder of \(what) is async, and was not awaited yet"
    case .wrongScope: return "wrongScope: \(what) can't be given in this scope"
    case .liveInTest: return "liveInTest: a strict test used the real \(what) instead of a double"
    case .slowBuilder:
      return
        "slowBuilder: the builder of \(what) has been running for a long time, and others are waiting "
        + "for it"
    default: return "\(code): \(what)"
    }
  }

  private var conditions: String {
    var text = ""
    if !qualifiers.isEmpty { text += " that is \(qualifiers.joined(separator: " and "))" }
    if let group { text += " in the group \"\(group)\"" }
    return text
  }
}

extension InjectError.Code {
  /// Whether `error` is an `InjectError` of this kind, for `if case` and `catch`.
  public static func ~= (code: InjectError.Code, error: any Error) -> Bool {
    (error as? InjectError)?.code == code
  }
}

/// All faults that `InjectStorage.validate()` found.
public struct InjectFaults: Error, Sendable, CustomStringConvertible {
  /// One error for each registration that can't be built, with a place where it is injected if one
  /// is known, and one for each injection that can't be resolved for another reason.
  public let errors: [InjectError]

  /// The errors, one after the other.
  public var description: String {
    "\(errors.count) fault\(errors.count == 1 ? "" : "s") of injection:\n"
      + errors.map(\.description).joined(separator: "\n")
  }
}
