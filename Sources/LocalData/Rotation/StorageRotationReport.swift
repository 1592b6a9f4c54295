public import StorageCore

/// What a rotation of all keys has done: names and reasons, never a value or a key.
public struct StorageRotationReport: Hashable, Sendable {
  /// A store whose own keys were replaced.
  public struct Store: Hashable, Sendable {
    /// Which store.
    public let name: String
    /// How many of its records were sealed again.
    public let reencrypted: Int
    /// How many of its records can't be read any more: see `ReencryptionReport.setAside`.
    public let setAside: Int
    /// The names of values that stay as they are, because they can't be read.
    public let remaining: [String]

    init(_ name: String, _ report: ReencryptionReport, remaining: [String]) {
      self.name = name
      reencrypted = report.reencrypted
      setAside = report.setAside + report.remaining
      self.remaining = remaining
    }
  }

  /// A value that was left as it is.
  public struct Left: Hashable, Sendable {
    /// The domain and the name of the key, or the key or folder that the error is about.
    public let name: String
    /// Where the value is.
    public let place: String
    /// Why it was left.
    public let error: StorageError
  }

  /// The stores whose own keys this run replaced; not those of an interrupted run that it
  /// continued.
  public internal(set) var stores: [Store] = []
  /// The master keys and the keys of groups that were replaced.
  public internal(set) var keys: [String] = []
  /// How many values this run sealed again under another master key, group key or provider's
  /// material.
  public internal(set) var resealed = 0
  /// The values that could not be read, so that they stay as they are.
  ///
  /// The rotation stays unfinished until they are readable, restored or removed, and it was called
  /// again: the former key is kept for exactly the values that it sealed when it was replaced.
  public internal(set) var left: [Left] = []
  /// The values and places that could not be reached or read, and that the caller gave up.
  ///
  /// No key of the application opens these values now.
  public internal(set) var abandoned: [Left] = []
  /// The keys whose values are under material of a provider that was not asked, or under a
  /// passcode.
  ///
  /// A rotation does not change them. If the material or the passcode leaked, too, replace it: a
  /// provider then also gives the old material, see
  /// ``KeyMaterialProviding/formerKeyMaterial(for:)``.
  public internal(set) var external: [String] = []

  /// Whether every value was sealed again, except the abandoned ones.
  ///
  /// If it is false, look at ``left`` and rotate again with the same source.
  public var isComplete: Bool {
    left.isEmpty && stores.allSatisfy { $0.setAside == 0 && $0.remaining.isEmpty }
  }

  init() {}
}

extension StorageRotationReport: CustomStringConvertible {
  /// A line for each store, each key and each value that was left.
  public var description: String {
    var lines = stores.map { store in
      "\(store.name): new keys, \(store.reencrypted) sealed again"
        + (store.setAside > 0 ? ", \(store.setAside) set aside" : "")
        + (store.remaining.isEmpty
          ? "" : ", can't be read: \(store.remaining.joined(separator: ", "))")
    }
    lines += keys.map { "\($0): replaced" }
    lines.append("values sealed again: \(resealed)")
    lines += left.map { "\($0.name) in \($0.place): left as it is: \($0.error)" }
    lines += abandoned.map { "\($0.name) in \($0.place): abandoned: \($0.error)" }
    lines += external.map { "\($0): not under a key of the application, so not changed" }
    return lines.joined(separator: "\n")
  }
}
