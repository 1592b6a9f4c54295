/// What a command left out while it did the rest.
///
/// The command then ends with the code of the reason.
struct LeftOut {
  /// The values whose name is known, in the order in which they were left out.
  private(set) var names: [String] = []
  /// How many values have a name that can't be read.
  private(set) var unnamed: Int
  private var reasons: [ExitStatus] = []

  init(unnamed: Int = 0) { self.unnamed = unnamed }

  var count: Int { names.count + unnamed }

  /// The code of the reason; nil if nothing was left out.
  ///
  /// With several reasons, it is the damage, which calls for a backup or a repair, or else the first.
  var status: ExitStatus? {
    unnamed > 0 || reasons.contains(.damaged) ? .damaged : reasons.first
  }

  /// What to do about values of a sealed folder that could not be read, for people.
  ///
  /// Nobody is told to remove what only a later release reads.
  var advice: String {
    switch status {
    case .damaged:
      "files verify says why, and files repair --drop-unreadable removes them for good"
    case .unsupported: "a later release wrote them: update this program"
    default: "the warnings say why"
    }
  }

  mutating func add(_ name: String, _ reason: ExitStatus) {
    names.append(name)
    reasons.append(reason)
  }

  /// Adds a value, and warns of it.
  mutating func add(_ name: String, _ reason: ExitStatus, _ message: String, _ output: Output) {
    add(name, reason)
    output.warn(reason, "\(name): \(message)")
  }
}
