internal import CryptoCore
internal import StorageCore

/// One thing that doctor checked.
struct Finding: JSONConvertible {
  enum State: String {
    /// It can be used.
    case good
    /// It does not exist, which may be intended.
    case absent
    /// It exists, or is needed, and can't be used.
    case bad
    /// It is set, and this program ignores it.
    case ignored
  }

  let subject: String
  let state: State
  let message: String
  /// The code of the library's error, if that is the cause.
  let code: StorageError.Code?

  init(
    _ subject: String, _ state: State, _ message: String, code: StorageError.Code? = nil
  ) {
    self.subject = subject
    self.state = state
    self.message = message
    self.code = code
  }

  /// The finding of an attempt: its result, or its error.
  init(_ subject: String, _ path: String, _ attempt: () throws -> String) {
    do {
      self.init(subject, .good, "\(path): \(try attempt())")
    } catch let failure as Failure {
      self.init(subject, .bad, failure.line)
    } catch let error as StorageError {
      self.init(subject, .bad, Failure(error).line, code: error.code)
    } catch {
      self.init(subject, .bad, "\(path): it failed")
    }
  }

  /// The finding of a store: that it opens, and how many values it has.
  static func opening(
    _ subject: String, _ path: String, _ listing: () throws -> KeyListing
  ) -> Finding {
    Finding(subject, path) {
      let listing = try listing()
      guard listing.unreadable == 0 else {
        throw Failure(.damaged, KeyListing.unreadable(listing.unreadable))
      }
      return "opens; \(Printable.count(listing.own.count, "value"))"
    }
  }

  var row: [String] { [mark, Printable.line(subject), Printable.line(message)] }

  private var mark: String {
    switch state {
    case .good: "ok"
    case .absent: "-"
    case .bad: "BAD"
    case .ignored: "!"
    }
  }

  var json: JSONValue {
    let finding: JSONValue = ["subject": subject, "state": state.rawValue, "message": message]
    return code.map { finding.with(["code": $0.description]) } ?? finding
  }
}
