/// The nodes of a storage, each with the first place of its injection.
///
/// The storage's lock guards it. A node is kept as long as the storage, except one that asks for
/// the instance of a session: the end of the session leaves it to the properties that hold it, so
/// that a name used once costs nothing later.
struct NodeSet {
  private struct Entry {
    let node: AnyNode
    let location: InjectLocation?
  }

  private struct WeakEntry {
    weak var node: AnyNode?
    let location: InjectLocation?
  }

  private var lasting: [NodeKey: Entry] = [:]
  private var sessions: [String: [NodeKey: Entry]] = [:]
  /// Nodes of ended sessions that properties may still hold.
  private var ended: [NodeKey: WeakEntry] = [:]

  /// The node of a request, or nil.
  mutating func node(of key: NodeKey) -> AnyNode? {
    guard let name = key.session else { return lasting[key]?.node }
    if let entry = sessions[name]?[key] { return entry.node }
    guard let entry = ended.removeValue(forKey: key), let node = entry.node else { return nil }
    sessions[name, default: [:]][key] = Entry(node: node, location: entry.location)
    return node
  }

  /// Adds the node of a request that has none.
  mutating func add(_ node: AnyNode, at location: InjectLocation?) {
    let entry = Entry(node: node, location: location)
    if let name = node.key.session {
      sessions[name, default: [:]][node.key] = entry
    } else {
      lasting[node.key] = entry
    }
  }

  /// How many nodes it knows.
  var count: Int { lasting.count + sessions.values.reduce(ended.count) { $0 + $1.count } }

  /// All nodes.
  var all: [AnyNode] {
    lasting.values.map(\.node) + sessions.values.flatMap { $0.values.map(\.node) }
      + ended.values.compactMap(\.node)
  }

  /// The nodes of injections, each with its first place.
  var injections: [(node: AnyNode, location: InjectLocation)] {
    let kept = Array(lasting.values) + sessions.values.flatMap(\.values)
    let living = ended.values.compactMap { entry in
      entry.node.map { Entry(node: $0, location: entry.location) }
    }
    return (kept + living).compactMap { entry in
      entry.location.map { (node: entry.node, location: $0) }
    }
  }

  /// Ends a session.
  ///
  /// - Returns: the nodes whose result may be an instance of the session.
  mutating func end(_ name: String) -> [AnyNode] {
    let nodes = sessions.removeValue(forKey: name) ?? [:]
    let living = release(nodes).filter { $0.key.session == name }
    return lasting.values.map(\.node).filter { $0.key.scope == nil } + living
  }

  /// Ends all sessions.
  ///
  /// - Returns: all nodes.
  mutating func endAll() -> [AnyNode] {
    let nodes = sessions.values.flatMap { $0 }
    sessions = [:]
    return lasting.values.map(\.node) + release(nodes)
  }

  /// Leaves nodes to the properties that hold them, and drops the nodes that nothing holds anymore.
  ///
  /// - Returns: all nodes of ended sessions that are left.
  private mutating func release(_ nodes: some Sequence<(key: NodeKey, value: Entry)>) -> [AnyNode] {
    ended = ended.filter { $0.value.node != nil }
    for (key, entry) in nodes {
      ended[key] = WeakEntry(node: entry.node, location: entry.location)
    }
    return ended.values.compactMap(\.node)
  }
}
