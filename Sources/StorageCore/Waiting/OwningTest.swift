internal import Synchronization

/// The test that owns a storage.
///
/// Only that test may use the storage, and threads that know of no test, as long as the test runs.
/// Another test that reaches it has it from an object that outlives tests, such as a singleton, and
/// would be given the values of the owner.
package final class OwningTest: Sendable {
  /// The test of the current task, or nil.
  @TaskLocal package static var current: OwningTest?

  private let title: String?
  /// The test around this one, whose storages this one may use.
  private let outer: OwningTest?
  private let isOver = Atomic<Bool>(false)

  /// A test inside of the current one, if there is one.
  ///
  /// - Parameter title: its name, for errors.
  package init(_ title: String?) {
    self.title = title
    outer = Self.current
  }

  /// Ends the test: from now on, only tasks that it has started may use its storages.
  package func end() { isOver.store(true, ordering: .releasing) }

  /// Why the caller must not use this test's storages; nil if it may.
  package var refusal: StorageError? {
    let current = Self.current
    var inner = current
    while let test = inner {
      if test === self { return nil }
      inner = test.outer
    }
    let isOver = isOver.load(ordering: .acquiring)
    guard current != nil || isOver else { return nil }
    let name = title.map { "the test \($0)" } ?? "another test"
    return StorageError(
      .invalid,
      "this storage belongs to \(name)\(isOver ? ", which has ended" : ""). Something that outlives "
        + "tests keeps it, such as a static property or a registered singleton. Use a property of "
        + "the standard storage there, such as @Vault, which follows the test, or ask for "
        + "VaultStorage.standard at each use. With .injecting {}, written after .storage(), "
        + "registered builders run anew for each test. A test that uses it needs .storage() itself")
  }

  /// Throws the refusal, if there is one.
  package func check() throws(StorageError) {
    if let refusal { throw refusal }
  }
}
