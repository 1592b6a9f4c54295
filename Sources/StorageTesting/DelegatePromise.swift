public import StorageCore

/// One promise of a delegate, that can be checked.
///
/// The suite needs no test framework: a promise that is broken throws a ``BrokenPromise``.
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

  /// A promise of all delegates whose type is an `applicable` one.
  init<Applicable>(
    _ description: String, by applicable: Applicable.Type,
    _ body: @escaping @Sendable (Subject) throws -> Void
  ) {
    self.description = description
    applies = { $0 is Applicable }
    self.body = body
  }

  /// The promises that a delegate of this type makes, by the protocols it conforms to.
  public static func all(of type: any StorageDelegate.Type) -> [DelegatePromise] {
    (basic + enumerable + observable + keyset + checks).filter { $0.applies(type) }
  }

  /// The promises about a place that fails, which are checked with ``check(making:failing:)``.
  ///
  /// They find a delegate that swallows an error: one that says a record is removed, or absent, where that
  /// is not known.
  public static func whereThePlaceFails(of type: any StorageDelegate.Type) -> [DelegatePromise] {
    failures.filter { $0.applies(type) }
  }

  /// Checks the promise.
  ///
  /// - Parameter make: makes an empty delegate; called once or more for each check.
  /// - Throws: ``BrokenPromise``, or what the delegate threw where it should not.
  public func check(_ make: @escaping () throws -> any StorageDelegate) throws {
    try body(Subject(promise: description, make: make, fail: nil))
  }

  /// Checks a promise about a place that fails.
  ///
  ///     try promise.check(
  ///       making: { try MyDelegate(folder: freshFolder()) },
  ///       failing: { _ in
  ///         try takeTheDiskAway()
  ///         return { try putItBack() }
  ///       })
  ///
  /// - Parameters:
  ///   - make: makes an empty delegate; called once for each check.
  ///   - failing: makes the place of a delegate fail, so that no record can be written or removed, and
  ///     returns what mends it again.
  /// - Throws: ``BrokenPromise``, or what the delegate or `failing` threw where it should not.
  public func check(
    making make: @escaping () throws -> any StorageDelegate,
    failing: @escaping (any StorageDelegate) throws -> () throws -> Void
  ) throws {
    try body(Subject(promise: description, make: make, fail: failing))
  }
}

/// What a check throws when a promise does not hold.
public struct BrokenPromise: Error, CustomStringConvertible, Sendable {
  /// The promise, and what happened instead.
  public let description: String
}

/// What a check works with.
struct Subject {
  let promise: String
  let make: () throws -> any StorageDelegate
  /// Makes the place of a delegate fail, and returns what mends it; nil where nobody said how.
  let fail: ((any StorageDelegate) throws -> () throws -> Void)?

  /// Runs `body` while the place of a delegate fails.
  func whileFailing(_ delegate: any StorageDelegate, _ body: () throws -> Void) throws {
    guard let fail else {
      throw BrokenPromise(
        description:
          "\(promise): how to make the place fail was not said; use check(making:failing:)")
    }
    let mend = try fail(delegate)
    let result = Result { try body() }
    try mend()
    try result.get()
  }

  func require(_ isKept: Bool, _ what: String) throws {
    guard isKept else { throw BrokenPromise(description: "\(promise): \(what)") }
  }

  /// A fresh delegate of a refined protocol.
  func make<Delegate>(as _: Delegate.Type) throws -> Delegate {
    guard let delegate = try make() as? Delegate else {
      throw BrokenPromise(description: "\(promise): the delegate is not a \(Delegate.self)")
    }
    return delegate
  }
}
