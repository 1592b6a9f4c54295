internal import CryptoCore
internal import StorageCore

extension Route {
  /// Changes the value in one atomic step.
  func update<Result: Sendable>(
    _ body: @escaping @Sendable (inout Value?) throws -> Result
  ) async throws -> Result {
    let end = ContinuousClock.now + .seconds(30)
    repeat {
      if let result = try await attempt(body) { return result }
    } while ContinuousClock.now < end
    throw Self.busy.about(name)
  }

  /// Changes the value in one atomic step, on a thread that may block.
  ///
  /// - Throws: what `body` throws, `unsupported` if a provider must be asked, and the errors of the
  ///   route.
  func updateBlocking<Result>(_ body: (inout Value?) throws -> Result) throws -> Result {
    let end = ContinuousClock.now + .seconds(30)
    repeat {
      if let result = try attemptBlocking(body) { return result }
    } while ContinuousClock.now < end
    throw Self.busy.about(name)
  }

  /// Runs `body`, which computes a new value from the present one.
  private func updating<Result>(_ body: () throws -> Result) throws -> Result {
    try Reentry.during(address, "update of \"\(name)\"") { try body() }
  }

  /// Throws `readOnly`, or `invalid` inside an update of the same value.
  func checkWrite(_ call: String) throws(StorageError) {
    try requireWritable()
    try Reentry.checkWrite(to: address, name, "\(call) of \"\(name)\"")
  }

  static var busy: StorageError {
    StorageError(.busy, "others kept changing the value for 30 seconds; try again")
  }

  /// One attempt; nil if another writer wrote meanwhile.
  private func attempt<Result: Sendable>(
    _ body: @escaping @Sendable (inout Value?) throws -> Result
  ) async throws -> Result? {
    guard case .provider(let call) = materials else {
      return try await Blocking.run { try self.attemptBlocking(body) }
    }
    let found = try await get(call)
    // Seal with the material that opened the value, or that the provider returned with it: a second
    // call might return other material by mistake.
    let present: SecureBytes
    if let found { present = found.present } else { present = try await call.material() }
    return try await Blocking.run {
      var value = found?.value
      let result = try self.updating { try body(&value) }
      let isDone = try self.replace(found?.bytes, by: value, present, self.sealer)
      return isDone ? result : nil
    }
  }

  /// One attempt, on a thread that may block.
  func attemptBlocking<Result>(
    _ body: (inout Value?) throws -> Result
  ) throws -> Result? {
    let old = try stored()
    let found = try old.map { (bytes) throws(StorageError) in try decode(bytes) }
    var value = found?.value
    let result = try updating { try body(&value) }
    var material: SecureBytes?
    if value != nil {
      let isOfPasscode = sealer?.sealing?.pattern.origin == .passcode
      // A user who is asked twice may mistype the passcode, and then nobody would know the value's
      // passcode.
      if isOfPasscode { material = found?.material }
      // A shared key may be replaced meanwhile, so `replace` asks for it.
      if case .shared = materials {
      } else if material == nil {
        material = try materials.present(isWriting: true)
      }
    }
    return try replace(old, by: value, material, sealer) ? result : nil
  }
}
