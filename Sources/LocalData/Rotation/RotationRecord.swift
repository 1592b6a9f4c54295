/// How far a rotation has come; in the ledger from its beginning to its end.
struct RotationRecord: Codable, Equatable, Sendable {
  /// The stores whose keys this rotation has replaced.
  var stores: Set<String> = []
  /// The shared keys that this rotation is about to replace, or has replaced.
  var begun: Set<String> = []
  /// The shared keys whose values are all sealed again.
  var done: Set<String> = []
  /// The shared keys that this rotation has replaced; a run of another program may drop their
  /// former keys.
  var replaced: Set<String> = []
  /// Whether the stores get a new source; nil before the rotation has begun.
  var hasNewSource: Bool?
  /// The stores in which records can't be read.
  var incomplete: Set<String> = []
}
