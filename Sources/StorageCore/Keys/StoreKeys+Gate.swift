internal import CryptoCore
internal import Synchronization

/// A place whose calls wait for other programs and threads until a deadline.
package protocol WaitingPlace: RecordPlace {
  /// How long a call waits.
  var deadline: Duration { get }
}

extension StoreKeys {
  /// The store in messages.
  var title: String { place.location ?? "the store" }

  /// Runs `body` while holding `gate`, and delivers reports afterwards, so that a receiver may use
  /// the store.
  ///
  /// Errors that name no file get the path of the store.
  func underGate<Result>(
    _ body: (inout State) throws(StorageError) -> Result
  ) throws(StorageError) -> Result {
    try owner?.check()
    do throws(StorageError) {
      return try StorageDiagnostics.reportingAfterwards { () throws(StorageError) in
        defer { StorageDiagnostics.reportUnlockedMemory() }
        let start = ContinuousClock.now
        // The lock is not recursive: the thread would wait for itself.
        guard Reentry.caller(on: ObjectIdentifier(self), dependingOn: nil) == nil else {
          throw Self.usesItself
        }
        if Reentry.isPossible, let identity = place.identity, Reentry.isServing(identity) {
          throw Self.isServed
        }
        let deadline = (place as? any WaitingPlace)?.deadline ?? .seconds(5)
        return try gate.withLock(waiting: { () throws(StorageError) in
          guard asksProgram.load(ordering: .acquiring), start.duration(to: .now) >= deadline else {
            return
          }
          throw Self.isAsking
        }) { (state) throws(StorageError) in
          // Otherwise each waiting caller would wait for the service again, or ask the user again.
          if let last = state.unanswered, last.end > start { throw last.error }
          do throws(StorageError) {
            return try Reentry.during(ObjectIdentifier(self), "opening of \(title)") {
              () throws(StorageError) in try body(&state)
            }
          } catch {
            if error.code == .timedOut || error.code == .dismissed
              || error.code == .unavailable && place.asksOthers
            {
              state.unanswered = (error, .now)
            }
            throw error
          }
        }
      }
    } catch {
      throw error.at(place.location)
    }
  }

  /// The error of a call that has waited for a key source of another thread.
  private static var isAsking: StorageError {
    let own = Reentry.titles.first.map { ", here by the \($0)" } ?? ""
    return StorageError(
      .busy,
      "another thread is opening the store, and its key source, which is code of the program, has not "
        + "returned. A key source that waits for a thread or a store that uses this store\(own) would "
        + "never return: let it read its key from elsewhere. Otherwise try again")
  }
}
