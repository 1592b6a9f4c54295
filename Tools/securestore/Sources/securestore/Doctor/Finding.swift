internal import CryptoCore
internal import StorageCore

/// One thing that doctor looked at.
struct Finding {
  enum State: String {
    /// It can be used.
    case good
    /// It is not there, which may be as it should be.
    case absent
    /// It is there and can't be used as it is.
    case bad
  }

  let subject: String
  let state: State
  let message: String

  init(_ subject: String, _ state: State, _ message: String) {
    self.subject = subject
    self.state = state
    self.message = message
  }

  /// What an attempt gives: its words, or those of its error.
  init(_ subject: String, _ path: String, _ attempt: () throws -> String) {
    do {
      self.init(subject, .good, "\(path): \(try attempt())")
    } catch let failure as Failure {
      self.init(subject, .bad, failure.line)
    } catch let error as StorageError {
      self.init(subject, .bad, Failure(error).line)
    } catch {
      self.init(subject, .bad, "\(path): it failed")
    }
  }

  var row: [String] { [mark, subject, Printable.line(message)] }

  private var mark: String {
    switch state {
    case .good: "ok"
    case .absent: "-"
    case .bad: "BAD"
    }
  }

  var json: JSONValue {
    .object([
      ("subject", .string(subject)), ("state", .string(state.rawValue)),
      ("message", .string(message)),
    ])
  }
}
