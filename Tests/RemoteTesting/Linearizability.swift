/// A history of one register, and whether it could have happened at a register that does one thing
/// after the other.
///
/// The search is that of Wing and Gong with Lowe's memory of what was tried: it goes through the
/// operations in the order of their beginnings and ends, and undoes a choice that leads nowhere.
package struct RegisterHistory: Sendable {
  package enum Operation: Hashable, Sendable {
    case write(String?)
    case read(String?)
    /// A write over one value alone.
    case swap(from: String?, to: String)
  }

  package struct Call: Sendable {
    package let operation: Operation
    package let begin: UInt64
    /// The end; nil for a call without an answer, which may take effect at any later time, or never.
    package let end: UInt64?

    package init(operation: Operation, begin: UInt64, end: UInt64?) {
      (self.operation, self.begin, self.end) = (operation, begin, end)
    }
  }

  package var calls: [Call]

  package init(calls: [Call] = []) { self.calls = calls }

  /// Whether there is an order of the calls, each between its beginning and its end, in which each
  /// read gives what was written last.
  package func isLinearizable() -> Bool {
    // What was read of a call without an answer is not known.
    let calls = self.calls.filter { call in
      if case .read = call.operation { return call.end != nil }
      return true
    }.sorted { $0.begin < $1.begin }
    let needed = calls.filter { $0.end != nil }.count
    guard needed > 0 else { return true }

    // A list of beginnings and ends in time, of which a call is taken out while it is in the order.
    struct Node {
      let call: Int
      let isBegin: Bool
      var previous: Int
      var next: Int
    }
    var events: [(time: UInt64, call: Int, isBegin: Bool)] = []
    for (index, call) in calls.enumerated() {
      events.append((call.begin, index, true))
      if let end = call.end { events.append((end, index, false)) }
    }
    // At the same time, a beginning is before an end: the calls overlap.
    events.sort { ($0.time, $0.isBegin ? 0 : 1) < ($1.time, $1.isBegin ? 0 : 1) }
    var nodes = [Node(call: -1, isBegin: true, previous: -1, next: events.isEmpty ? -1 : 1)]
    for (index, event) in events.enumerated() {
      nodes.append(
        Node(
          call: event.call, isBegin: event.isBegin, previous: index,
          next: index + 1 < events.count ? index + 2 : -1))
    }
    var ends = [Int](repeating: -1, count: calls.count)
    for (index, node) in nodes.enumerated() where index > 0 && !node.isBegin {
      ends[node.call] = index
    }
    func unlink(_ index: Int) {
      nodes[nodes[index].previous].next = nodes[index].next
      if nodes[index].next >= 0 { nodes[nodes[index].next].previous = nodes[index].previous }
    }
    func relink(_ index: Int) {
      nodes[nodes[index].previous].next = index
      if nodes[index].next >= 0 { nodes[nodes[index].next].previous = index }
    }

    struct Tried: Hashable {
      let done: [UInt64]
      let value: String?
    }
    var tried: Set<Tried> = []
    var done = [UInt64](repeating: 0, count: calls.count / 64 + 1)
    var value: String?
    var stack: [(node: Int, value: String?)] = []
    var taken = 0
    var index = nodes[0].next
    while taken < needed {
      if index >= 0, nodes[index].isBegin {
        let call = calls[nodes[index].call]
        var next = value
        var isPossible = true
        switch call.operation {
        case .write(let new): next = new
        case .read(let seen): isPossible = seen == value
        case .swap(let old, let new): (isPossible, next) = (old == value, new)
        }
        if isPossible {
          var after = done
          after[nodes[index].call / 64] |= 1 << UInt64(nodes[index].call % 64)
          if tried.insert(Tried(done: after, value: next)).inserted {
            stack.append((index, value))
            (done, value) = (after, next)
            if call.end != nil { taken += 1 }
            unlink(index)
            if ends[nodes[index].call] >= 0 { unlink(ends[nodes[index].call]) }
            index = nodes[0].next
            continue
          }
        }
        index = nodes[index].next
      } else {
        // The end of a call that is not in the order yet: the last choice was wrong.
        guard let (last, old) = stack.popLast() else { return false }
        let call = nodes[last].call
        if ends[call] >= 0 { relink(ends[call]) }
        relink(last)
        done[call / 64] &= ~(1 << UInt64(call % 64))
        value = old
        if calls[call].end != nil { taken -= 1 }
        index = nodes[last].next
      }
    }
    return true
  }
}
