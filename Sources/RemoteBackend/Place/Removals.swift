internal import CryptoCore

/// The rows that were removed so lately that an answer which is still to come may not know of it.
///
/// A watch may tell of a removal before the answer arrives to an earlier question. Without this memory
/// the answer would bring the row back.
struct Removals: Sendable {
  private var marks: [NameHash: Mark] = [:]
  /// The moments up to which all changes were known when questions began that have no answer yet.
  private var questions: [Int: Mark] = [:]
  private var lastQuestion = 0

  /// The mark of a row's removal; nil when no answer is older than it.
  subscript(name: NameHash) -> Mark? { marks[name] }

  /// Remembers a removal, unless no answer to come is older than it.
  mutating func add(_ name: NameHash, _ removal: Mark, known mark: Mark?) {
    if removal > settled(mark) { marks[name] = removal }
  }

  /// Forgets a removal, since the row is there again.
  mutating func forget(_ name: NameHash) { marks[name] = nil }

  /// Forgets what no answer to come is older than.
  mutating func settle(known mark: Mark?) {
    guard !marks.isEmpty else { return }
    let settled = settled(mark)
    marks = marks.filter { $0.value > settled }
  }

  private func settled(_ mark: Mark?) -> Mark { min(mark ?? 0, questions.values.min() ?? .max) }

  /// Notes that a question begins, whose answer is no older than what is known now.
  mutating func beginQuestion(known mark: Mark?) -> Int {
    lastQuestion += 1
    questions[lastQuestion] = mark ?? 0
    return lastQuestion
  }

  /// Notes that the answer was taken in.
  mutating func endQuestion(_ number: Int, known mark: Mark?) {
    questions[number] = nil
    settle(known: mark)
  }
}
