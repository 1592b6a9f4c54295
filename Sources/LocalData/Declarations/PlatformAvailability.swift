/// The machines on which a key may be used.
///
/// The names come from phones and watches. Here a machine's tags say what the machine is, see
/// ``StorageConfiguration/machineTags``: a machine with the tag `watch` is a watch, any other is a
/// phone.
public enum PlatformAvailability: Hashable, Sendable {
  /// On every machine.
  case all
  /// On machines without the tag `watch`.
  case phoneOnly
  /// On machines with the tag `watch`.
  case watchOnly
  /// Kept on machines without the tag `watch`, and sent to machines with it.
  case phoneWithWatchSync
  /// On machines that have at least one of these tags.
  case machines(Set<String>)

  /// Whether a machine with these tags may use the key.
  package func allows(machineOf tags: Set<String>) -> Bool {
    switch self {
    case .all, .phoneWithWatchSync: true
    case .phoneOnly: !tags.contains(Self.watchTag)
    case .watchOnly: tags.contains(Self.watchTag)
    case .machines(let allowed): !allowed.isDisjoint(with: tags)
    }
  }

  /// The tag that makes a machine a watch.
  package static let watchTag = "watch"
}

extension PlatformAvailability: CustomStringConvertible {
  /// The case, with the tags in order.
  public var description: String {
    switch self {
    case .all: "all"
    case .phoneOnly: "phoneOnly"
    case .watchOnly: "watchOnly"
    case .phoneWithWatchSync: "phoneWithWatchSync"
    case .machines(let tags): "machines(\(tags.sorted().joined(separator: ", ")))"
    }
  }
}
