/// Calls in which code of the program keeps the records of a place.
extension Reentry {
  private struct Served: Hashable {
    let place: DelegateIdentity
  }

  /// Runs `body`, in which code of the program serves a place, on this thread.
  ///
  /// - Parameters:
  ///   - place: the place.
  ///   - body: the code to run.
  /// - Returns: what `body` returns.
  /// - Throws: what `body` throws.
  package static func serving<Result, Failure: Error>(
    _ place: DelegateIdentity, _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try during(Served(place: place), "call of the provider", body)
  }

  /// Whether this thread runs code of the program that serves a place.
  static func isServing(_ place: DelegateIdentity) -> Bool {
    caller(on: Served(place: place), dependingOn: nil) != nil
  }
}
