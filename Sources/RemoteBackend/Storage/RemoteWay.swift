internal import CryptoCore
package import StorageCore

/// The way to a store in an engine, as a configuration has it.
package struct RemoteWay: Sendable {
  private let words: [String]
  private let options: RemotePlace.Options
  private let engine: @Sendable () throws(StorageError) -> any RemoteEngine

  private static let places = WeakTable<[ExactString], RemotePlace>()

  /// A way.
  ///
  /// - Parameters:
  ///   - words: tell this way from others to the same store, which have connections of their own.
  ///   - place: the name of the store, to which its keys are bound.
  ///   - access: what the program may do.
  ///   - deadline: how long a call may take.
  ///   - copy: where this machine keeps a copy.
  ///   - engine: makes the engine, at the first use.
  package init(
    _ words: [String], place: String, access: StoreAccess, deadline: Duration,
    copy: DelegatedStorage?, engine: @escaping @Sendable () throws(StorageError) -> any RemoteEngine
  ) {
    self.words =
      words + [place, "\(access)", "\(deadline)", copy.map { "\(ObjectIdentifier($0))" } ?? ""]
    var options = RemotePlace.Options()
    options.deadline = deadline
    options.access = access == .readOnly ? .readOnly : .mustExist
    options.place = place
    options.copy = copy
    (self.options, self.engine) = (options, engine)
  }

  /// The place at its end, which all ways with these words share.
  func place() throws(StorageError) -> RemotePlace {
    try Self.places.object(words.map { ExactString(text: $0) }) { () throws(StorageError) in
      RemotePlace(try engine(), options)
    }
  }
}
