internal import CryptoCore
internal import Glibc
public import StorageCore

/// A machine that uses a store, as it has said itself.
public struct RemoteMachine: Hashable, Sendable {
  /// Its name.
  public let name: String
  /// The numbers of the key slots that its key source opened then and that are still there.
  public let slots: Set<UInt32>
  /// When it said so, in seconds since 1970 by its own clock.
  public let time: Int64
}

// A machine's word is an ordinary value of the store: sealed, verified, listed and sealed again as all
// others.
extension RemoteStorage {
  /// What the names of these values begin with; a program uses no such name for its own.
  package static let machinePrefix = "securestore.machine/"

  private struct Word: Codable {
    /// By their random marks: a slot that is removed gives its number to another one.
    let slots: [String]
    let time: Int64
  }

  /// Says in the store which key slots this machine can open.
  ///
  /// Call it at the start of the program on each machine, after a new key has arrived there, and after
  /// ``rotate(to:openedBy:unacknowledged:)``, which makes all slots anew. Then
  /// ``promote(_:unacknowledged:)`` and ``removeSlot(_:unacknowledged:)`` know whom they would lock out.
  ///
  /// - Parameter name: the machine's name; nil for its host name.
  /// - Returns: what was said.
  /// - Throws: `StorageError` when the key source or the store can't be read, or not be written.
  @discardableResult
  public func acknowledge(as name: String? = nil) throws(StorageError) -> RemoteMachine {
    let marks = try keyAdministration.openedMarks()
    let title: String
    if let name { title = name } else { title = try Self.hostName() }
    let machine = RemoteMachine(name: title, slots: Set(marks.keys), time: WallTime.seconds)
    let word = Word(slots: Array(marks.values), time: machine.time)
    try save(encodable: word, forKey: Self.key(of: title))
    machineName.withLock { $0 = name }
    return machine
  }

  /// The slots that this machine has said it opens and that are still there, and all slots.
  ///
  /// Reads from memory.
  ///
  /// - Throws: `StorageError` when the store can't be read.
  package func acknowledgement() throws(StorageError) -> (slots: Set<UInt32>, all: Set<UInt32>) {
    let marks = try keyAdministration.slotMarks()
    let name = if let given = machineName.withLock({ $0 }) { given } else { try Self.hostName() }
    let word = try load(decodable: Word.self, forKey: Self.key(of: name))
    let said = marks.filter { word?.slots.contains($0.value) == true }
    return (Set(said.keys), Set(marks.keys))
  }

  /// The machines that have said which slots they open, by name.
  ///
  /// - Throws: `StorageError` when the store can't be read, or one of the machines' words.
  public func machines() throws(StorageError) -> [RemoteMachine] {
    try refresh()
    let marks = try keyAdministration.slotMarks()
    var machines: [RemoteMachine] = []
    for key in try keys() where key.hasPrefix(Self.machinePrefix) {
      guard let word = try load(decodable: Word.self, forKey: StoreKey(key)) else { continue }
      let slots = marks.filter { word.slots.contains($0.value) }.keys
      machines.append(
        RemoteMachine(
          name: String(key.dropFirst(Self.machinePrefix.count)), slots: Set(slots),
          time: word.time))
    }
    return machines.sorted { $0.name < $1.name }
  }

  /// Forgets a machine that is gone for good.
  ///
  /// - Throws: `StorageError` when the store can't be written.
  public func forget(_ machine: String) throws(StorageError) {
    try delete(forKey: Self.key(of: machine))
  }

  /// Removes a key slot, unless a machine would then open the store no more.
  ///
  /// - Parameters:
  ///   - id: the slot's number.
  ///   - unacknowledged: goes on although no machine has ever said which slots it opens, so that
  ///     nobody knows who is locked out.
  /// - Throws: `StorageError`: `conflict` names the machines that open no other slot; see also
  ///   ``/StorageCore/KeyAdministration/remove(_:)``.
  public func removeSlot(
    _ id: UInt32, unacknowledged: Bool = false
  ) throws(StorageError) {
    try requireAll(unacknowledged) { slots in slots.contains { $0 != id } }
    try keyAdministration.remove(id)
  }

  /// Makes one slot the only one besides those of recovery keys, if all machines open it.
  ///
  /// The data is not touched. After a leak of another slot's key, rotate the keys as well.
  ///
  /// - Parameters:
  ///   - id: the slot's number.
  ///   - unacknowledged: as for ``removeSlot(_:unacknowledged:)``.
  /// - Throws: `StorageError`: `conflict` names the machines that do not open it; `invalid` if there
  ///   is no such slot.
  public func promote(_ id: UInt32, unacknowledged: Bool = false) throws(StorageError) {
    let slots = try keyAdministration.slots()
    guard slots.contains(where: { $0.id == id }) else {
      throw StorageError(.invalid, "the store has no key slot \(id)")
    }
    try requireAll(unacknowledged) { $0.contains(id) }
    for slot in slots where slot.id != id && !slot.isOfRecoveryKey {
      try keyAdministration.remove(slot.id)
    }
  }

  /// Replaces all keys of the store by new ones that `source` opens, if all machines open a slot of
  /// its key already.
  ///
  /// First `keyAdministration.add(source)`, bring the key to each machine, and let each
  /// ``acknowledge(as:)``. The new keys then open on all of them. See
  /// ``/StorageCore/KeyAdministration/rotate(openedBy:names:keepingOldKeys:progress:)``.
  ///
  /// - Parameters:
  ///   - id: the slot that all machines open.
  ///   - source: has the key of that slot.
  ///   - unacknowledged: as for ``removeSlot(_:unacknowledged:)``.
  /// - Returns: how many records were sealed again.
  /// - Throws: `StorageError`: `conflict` names the machines that do not open the slot; `invalid` if
  ///   `source` does not open it, or opens the slot of a recovery key as well. Nothing is then
  ///   changed.
  @discardableResult
  public func rotate(
    to id: UInt32, openedBy source: KeySource, unacknowledged: Bool = false
  ) throws(StorageError) -> ReencryptionReport {
    let own = RemoteStorage(delegate, keySource: source, errorClosure: errorClosure)
    // The new keys open with the first key that the source gives, so no other slot may be left for it.
    let opened = try own.keyAdministration.openedSlots()
    guard opened.contains(where: { $0.id == id }), !opened.contains(where: \.isOfRecoveryKey) else {
      throw StorageError(
        .invalid,
        "the key source must open key slot \(id) and no recovery key's; nothing was changed")
    }
    try promote(id, unacknowledged: unacknowledged)
    return try own.keyAdministration.rotate()
  }

  private static func key(of machine: String) -> StoreKey { StoreKey(machinePrefix + machine) }

  /// Throws if a machine does not open the slots that it must.
  private func requireAll(
    _ unacknowledged: Bool, _ opens: (Set<UInt32>) -> Bool
  ) throws(StorageError) {
    let machines = try machines()
    guard !machines.isEmpty || unacknowledged else {
      throw StorageError(
        .conflict,
        "no machine has said which key slots it opens, so nobody knows which would be locked out, and "
          + "nothing was changed. Let each machine acknowledge its slots, or go on without: "
          + "unacknowledged: true, or securestore's --unacknowledged")
    }
    let others = machines.filter { !opens($0.slots) }.map(\.name)
    guard !others.isEmpty else { return }
    throw StorageError(
      .conflict,
      "these machines have not said that they open another key slot, so nothing was changed: "
        + others.joined(separator: ", ")
        + ". Bring the new key there and let each acknowledge it, or forget a machine that is gone")
  }

  private static func hostName() throws(StorageError) -> String {
    var name = [CChar](repeating: 0, count: 256)
    guard unsafe gethostname(&name, name.count - 1) == 0 else {
      throw StorageError(.io, "the machine's name can't be read", number: Int(errno))
    }
    guard let text = unsafe SystemText.exact(name) else {
      throw StorageError(.invalid, "the machine's name is not UTF-8; pass a name")
    }
    return text
  }
}
