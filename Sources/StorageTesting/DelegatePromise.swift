public import StorageCore

/// One promise of a delegate, with a check.
///
/// The checks need no test framework: a broken promise throws a ``BrokenPromise``.
///
///     @Test(arguments: DelegatePromise.all(of: MyDelegate.self))
///     func keepsIts(_ promise: DelegatePromise) throws {
///       try promise.check { try MyDelegate(folder: freshFolder()) }
///     }
public struct DelegatePromise: Sendable, CustomStringConvertible {
  /// The promise, as a sentence.
  public let description: String
  let applies: @Sendable (any StorageDelegate.Type) -> Bool
  let body: @Sendable (Subject) throws -> Void

  /// Creates a promise of all delegates whose type conforms to `applicable`.
  init<Applicable>(
    _ description: String, by applicable: Applicable.Type,
    _ body: @escaping @Sendable (Subject) throws -> Void
  ) {
    self.description = description
    applies = { $0 is Applicable }
    self.body = body
  }

  /// The promises of a delegate type, according to the protocols that it conforms to.
  public static func all(of type: any StorageDelegate.Type) -> [DelegatePromise] {
    (basic + enumerable + observable + keyset + checks).filter { $0.applies(type) }
  }

  /// The promises about a failing place; check them with ``check(making:failing:)``.
  ///
  /// They find a delegate that hides an error: one that reports a record as removed or absent
  /// although it does not know.
  public static func whereThePlaceFails(of type: any StorageDelegate.Type) -> [DelegatePromise] {
    failures.filter { $0.applies(type) }
  }

  /// Checks the promise.
  ///
  /// - Parameter make: creates an empty delegate; called one or more times for each check.
  /// - Throws: ``BrokenPromise``, or an unexpected error of the delegate.
  public func check(_ make: @escaping () throws -> any StorageDelegate) throws {
    try body(Subject(promise: description, make: make, fail: nil))
  }

  /// Checks a promise about a failing place.
  ///
  ///     try promise.check(
  ///       making: { try MyDelegate(folder: freshFolder()) },
  ///       failing: { _ in
  ///         try takeTheDiskAway()
  ///         return { try putItBack() }
  ///       })
  ///
  /// - Parameters:
  ///   - make: creates an empty delegate; called once for each check.
  ///   - failing: makes the place of a delegate fail, so that no record can be written or removed,
  ///     and returns a closure that repairs it.
  /// - Throws: ``BrokenPromise``, or an unexpected error of the delegate or of `failing`.
  public func check(
    making make: @escaping () throws -> any StorageDelegate,
    failing: @escaping (any StorageDelegate) throws -> () throws -> Void
  ) throws {
    try body(Subject(promise: description, make: make, fail: failing))
  }
}

/// The error of a check whose promise does not hold.
public struct BrokenPromise: Error, CustomStringConvertible, Sendable {
  /// The promise, and what happened instead.
  public let description: String
}

/// The delegate factory and failure control that a check works with.
struct Subject {
  let promise: String
  let make: () throws -> any StorageDelegate
  /// Makes the place of a delegate fail and returns a closure that repairs it; nil when not
  /// provided.
  let fail: ((any StorageDelegate) throws -> () throws -> Void)?

  /// Runs `body` while the place of a delegate fails.
  func whileFailing(_ delegate: any StorageDelegate, _ body: () throws -> Void) throws {
    guard let fail else {
      throw BrokenPromise(
        description:
          "\(promise): there is no way to make the place fail; call check(making:failing:)")
    }
    let mend = try fail(delegate)
    let result = Result { try body() }
    try mend()
    try result.get()
  }

  func require(_ isKept: Bool, _ what: String) throws {
    guard isKept else { throw BrokenPromise(description: "\(promise): \(what)") }
  }

  /// A new delegate, which must conform to a refined protocol.
  func make<Delegate>(as _: Delegate.Type) throws -> Delegate {
    guard let delegate = try make() as? Delegate else {
      throw BrokenPromise(description: "\(promise): the delegate is not a \(Delegate.self)")
    }
    return delegate
  }
}
