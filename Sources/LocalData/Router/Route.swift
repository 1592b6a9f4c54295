internal import CryptoCore
internal import StorageCore

internal import struct FoundationEssentials.Data

/// The route to the value of one key: its place, its serializer, and its sealer.
///
/// Created once for each key, so that a call costs only the access to the place and the cipher.
final class Route<Value: Codable & Sendable>: Sendable {
  let name: String
  let address: PlaceAddress
  let place: any ValuePlace
  let serializer: Serializer
  /// Nil if the bytes are stored unchanged.
  let sealer: ValueSealer?
  let materials: Materials
  /// Notified after each write.
  let changes: Observers<Void>
  /// Remembers whether the last read failed.
  let failedRead: FailedRead
  /// Refuses a key whose value is stored in another way than its route expects.
  let requireNoConflict: @Sendable () throws(StorageError) -> Void
  /// Throws `readOnly` if the router may change nothing.
  let requireWritable: @Sendable () throws(StorageError) -> Void
  /// Called before each write; records where the value is.
  let beforeWriting: @Sendable () throws(StorageError) -> Void

  init(
    _ name: String, _ address: PlaceAddress, _ place: any ValuePlace, _ serializer: Serializer,
    _ sealer: ValueSealer?, _ materials: Materials, _ changes: Observers<Void>,
    _ failedRead: FailedRead,
    requireNoConflict: @escaping @Sendable () throws(StorageError) -> Void,
    requireWritable: @escaping @Sendable () throws(StorageError) -> Void,
    beforeWriting: @escaping @Sendable () throws(StorageError) -> Void
  ) {
    self.name = name
    self.address = address
    self.place = place
    self.serializer = serializer
    self.sealer = sealer
    self.materials = materials
    self.changes = changes
    self.failedRead = failedRead
    self.requireNoConflict = requireNoConflict
    self.requireWritable = requireWritable
    self.beforeWriting = beforeWriting
  }

  // MARK: - Reading

  /// The value, or nil if there is none.
  func get() async throws(StorageError) -> Value? {
    if case .provider(let call) = materials { return try await get(call)?.value }
    if let value = valueAtOnce() { return value }
    return try await Blocking.run { () throws(StorageError) in try self.load() }
  }

  /// The value, if its bytes are in memory and its place alone seals it.
  ///
  /// - Returns: nil when ``load()`` has to look, which also gives the error, if there is one.
  private func valueAtOnce() -> Value? {
    guard case .none = materials, let sealer, var bytes = place.readAtOnce() else { return nil }
    defer { Wipe.data(&bytes) }
    do throws(StorageError) {
      let envelope = try Envelope(reading: bytes)
      return envelope.sealing == nil ? try decode(envelope, sealer, []) : nil
    } catch {
      return nil
    }
  }

  /// The value, on a thread that may block.
  ///
  /// - Throws: `unsupported` if a provider must be asked.
  func load() throws(StorageError) -> Value? {
    do throws(StorageError) {
      guard var bytes = try stored() else { return nil }
      defer { Wipe.data(&bytes) }
      return try decode(bytes).value
    } catch {
      throw error.about(name)
    }
  }

  /// The stored bytes, or nil if the key has no value.
  ///
  /// After the route was created, another process may have moved the value, or sealed it in place.
  /// So if nothing is stored, or sealed bytes are stored where plain bytes belong, the ledger is
  /// checked.
  func stored() throws(StorageError) -> Data? {
    let bytes = try place.read()
    let isExpected = bytes.map { sealer != nil || !$0.starts(with: Envelope.mark) } ?? false
    if !isExpected { try requireNoConflict() }
    return bytes
  }

  /// The value of stored bytes and the material that opened it, if no provider must be asked.
  func decode(
    _ bytes: Data
  ) throws(StorageError) -> (value: Value, material: SecureBytes?) {
    try orConflict { () throws(StorageError) -> (value: Value, material: SecureBytes?) in
      guard let sealer else { return (try serializer.decode(Value.self, bytes), nil) }
      let envelope = try Envelope(reading: bytes)
      let found = try openers(of: bytes, envelope, sealer)
      guard envelope.sealing == nil || !found.isEmpty else {
        throw StorageError(
          .keyUnavailable,
          "the value is sealed, and the key that opens it does not exist; restore the key from a backup"
        )
      }
      return (try decode(envelope, sealer, found), found.first)
    }
  }

  /// The materials that may open stored bytes, if no provider must be asked: the present one first.
  func openers(
    of stored: Data, _ envelope: Envelope, _ sealer: ValueSealer
  ) throws(StorageError) -> [SecureBytes] {
    let present = try materials.present(isWriting: false).map { [$0] } ?? []
    guard case .shared(let key, let address) = materials, envelope.sealing != nil,
      try !sealer.isUnder(present, envelope)
    else { return present }
    return try key.materials(opening: stored, at: address)
  }

  /// Runs `body`; if it can't read the value, throws a conflict if the value is now stored in
  /// another way.
  private func orConflict<Result>(
    _ body: () throws(StorageError) -> Result
  ) throws(StorageError) -> Result {
    do throws(StorageError) {
      return try body()
    } catch {
      guard [.damaged, .wrongKey, .typeMismatch, .keyUnavailable].contains(error.code) else {
        throw error
      }
      try requireNoConflict()
      throw error
    }
  }

  private func decode(
    _ envelope: Envelope, _ sealer: ValueSealer, _ materials: [SecureBytes]
  ) throws(StorageError) -> Value {
    var opened = try sealer.open(envelope, materials)
    defer { Wipe.data(&opened) }
    return try serializer.decode(Value.self, opened)
  }

  /// A value, its stored bytes, and the present material of its provider.
  struct Found: Sendable {
    let value: Value
    let bytes: Data
    let present: SecureBytes
  }

  /// The value and its stored bytes, by asking a provider.
  func get(_ call: ProviderCall) async throws(StorageError) -> Found? {
    guard let sealer else { return nil }
    let stored = try await blocking { (route) throws(StorageError) in
      try route.stored().map { (bytes) throws(StorageError) in
        (bytes, try route.orConflict { () throws(StorageError) in try Envelope(reading: bytes) })
      }
    }
    guard let (bytes, envelope) = stored else { return nil }
    let materials = try await materials(of: envelope, sealer, call)
    let value = try await blocking { (route) throws(StorageError) in
      try route.orConflict { () throws(StorageError) in
        try route.decode(envelope, sealer, materials)
      }
    }
    return Found(value: value, bytes: bytes, present: materials[0])
  }

  private func materials(
    of envelope: Envelope, _ sealer: ValueSealer, _ call: ProviderCall
  ) async throws(StorageError) -> [SecureBytes] {
    do throws(StorageError) {
      return try await call.materials(for: envelope, sealer)
    } catch {
      throw error.about(name)
    }
  }

  // MARK: - Writing

  /// Stores a value, durably if the place is durable.
  func set(_ value: Value) async throws(StorageError) {
    if case .provider(let call) = materials { return try await set(value, call) }
    try await Blocking.run { () throws(StorageError) in try self.save(value) }
  }

  /// Stores a value on a thread that may block.
  func save(_ value: Value) throws(StorageError) {
    do throws(StorageError) {
      try checkWrite("save")
      var bytes = try serializer.encode(value)
      defer { Wipe.data(&bytes) }
      guard let sealer else {
        try beforeWriting()
        return try write(bytes)
      }
      var isTried = false
      // The lock of the key is no longer held when observers are notified.
      defer { if isTried { changes.notify(()) } }
      try materials.sharing { () throws(StorageError) in
        let material = try materials.present(isWriting: true)
        if sealer.sealing?.pattern.origin == .passcode, let material {
          try refuseOtherMaterial([material], Self.envelope(of: try place.read()), sealer)
        }
        var sealed = try sealer.seal(bytes, material)
        // If the place seals, these bytes are the value.
        defer { Wipe.data(&sealed) }
        try beforeWriting()
        isTried = true
        try place.write(sealed)
      }
    } catch {
      throw error.about(name)
    }
  }

  private func write(_ bytes: Data) throws(StorageError) {
    // Observers are notified after a failed write too: its outcome may be unknown.
    defer { changes.notify(()) }
    try place.write(bytes)
  }

  /// Replaces the stored bytes if they equal `old`, and notifies observers of the place.
  ///
  /// - Returns: whether the bytes were `old`; also false if a rotation replaced the key that `new`
  ///   is sealed under, so seal again.
  func exchange(_ old: Data?, _ new: Data?) throws(StorageError) -> Bool {
    try requireWritable()
    defer { changes.notify(()) }
    return try materials.sharing { () throws(StorageError) in
      if let new, try !isUnderPresentKey(new) { return false }
      return try place.replace(old, by: new)
    }
  }

  private func isUnderPresentKey(_ new: Data) throws(StorageError) -> Bool {
    guard let sealer, case .shared(let key, _) = materials else { return true }
    let present = try key.material(isWriting: true).map { [$0] } ?? []
    return try sealer.isUnder(present, try Envelope(reading: new))
  }

  /// Refuses to replace a value that is under other material.
  ///
  /// The user may have mistyped a passcode, or a provider may have lost its old key; this value is
  /// then the only one left.
  private func refuseOtherMaterial(
    _ materials: [SecureBytes], _ old: Envelope?, _ sealer: ValueSealer
  ) throws(StorageError) {
    guard let old else { return }
    guard try sealer.isUnder(materials, old) else { throw ValueSealer.wrongKey }
  }

  /// The envelope of stored bytes; bytes that can't be read at all are replaced, as by any other
  /// write.
  private static func envelope(of stored: Data?) -> Envelope? {
    guard let stored else { return nil }
    do throws(StorageError) { return try Envelope(reading: stored) } catch { return nil }
  }

  private func set(_ value: Value, _ call: ProviderCall) async throws(StorageError) {
    guard let sealer else { return }
    let end = ContinuousClock.now + .seconds(30)
    repeat {
      let (old, envelope) = try await blocking { (route) throws(StorageError) in
        let old = try route.place.read()
        return (old, Self.envelope(of: old))
      }
      let known: [SecureBytes]
      if let envelope {
        known = try await materials(of: envelope, sealer, call)
      } else {
        known = [try await call.material()]
      }
      let isWritten = try await blocking { (route) throws(StorageError) in
        try route.refuseOtherMaterial(known, envelope, sealer)
        return try route.replace(old, by: value, known[0], sealer)
      }
      if isWritten { return }
    } while ContinuousClock.now < end
    throw Self.busy.about(name)
  }

  /// Replaces or removes the stored bytes, if they still equal `old`.
  func replace(
    _ old: Data?, by value: Value?, _ material: SecureBytes?, _ sealer: ValueSealer?
  ) throws(StorageError) -> Bool {
    try checkWrite(value == nil ? "removal" : "save")
    guard let value else { return try exchange(old, nil) }
    var bytes = try serializer.encode(value)
    defer { Wipe.data(&bytes) }
    var isTried = false
    defer { if isTried { changes.notify(()) } }
    return try materials.sharing { () throws(StorageError) in
      var material = material
      if case .shared(let key, _) = materials { material = try key.material(isWriting: true) }
      let stored = try sealer.map { (sealer) throws(StorageError) in
        try sealer.seal(bytes, material)
      }
      try beforeWriting()
      isTried = true
      return try place.replace(old, by: stored ?? bytes)
    }
  }

  /// Removes the value, if there is one.
  func remove() throws(StorageError) {
    do throws(StorageError) {
      try checkWrite("removal")
      try requireNoConflict()
      defer { changes.notify(()) }
      try place.remove()
    } catch {
      throw error.about(name)
    }
  }

  /// Whether there is a value, even if it can't be read.
  func contains() throws(StorageError) -> Bool {
    do throws(StorageError) {
      if try place.contains() { return true }
      try requireNoConflict()
      return false
    } catch {
      throw error.about(name)
    }
  }

  func blocking<Result: Sendable>(
    _ body: @escaping @Sendable (Route) throws(StorageError) -> Result
  ) async throws(StorageError) -> Result {
    do throws(StorageError) {
      return try await Blocking.run { () throws(StorageError) in try body(self) }
    } catch {
      throw error.about(name)
    }
  }
}
