internal import CLibsecret
internal import CryptoCore
internal import StorageCore

/// The methods of the Secret Service that are used here, with the prompts that they may need.
///
/// https://specifications.freedesktop.org/secret-service-spec/0.2/
extension BusConnection {
  /// What a search found.
  struct Found {
    var unlocked: [ObjectPath]
    var locked: [ObjectPath]
  }

  /// The items that have all of the attributes, in all collections.
  func search(
    _ attributes: [String: String], _ call: Call
  ) throws(BusFailure) -> Found {
    let query = try storage { () throws(StorageError) in try Variant.attributes(attributes) }
    let answer = try self.call(
      .service("SearchItems"), at: .service, [query], as: "(aoao)", call)
    return Found(unlocked: answer[0].paths ?? [], locked: answer[1].paths ?? [])
  }

  /// The items that a search in one collection finds, readable or not; nobody is asked anything.
  func search(
    _ attributes: [String: String], in collection: ObjectPath, _ call: Call
  ) throws(BusFailure) -> [ObjectPath] {
    let query = try storage { () throws(StorageError) in try Variant.attributes(attributes) }
    let answer = try self.call(
      .collection("SearchItems"), at: collection, [query], as: "(ao)", call)
    return answer[0].paths ?? []
  }

  /// The secrets of items; missing and locked items are left out.
  func secrets(
    of items: [ObjectPath], _ call: Call
  ) throws(BusFailure) -> [ObjectPath: ReceivedSecret] {
    let secrets: [ObjectPath: ReceivedSecret]
    do throws(BusFailure) {
      secrets = try answeredSecrets(of: items, call)
    } catch {
      // If one of the items is locked, KeePassXC refuses all of them; KWallet does so if one is
      // missing.
      guard
        error.kind == .noObject || error.kind == .invalidArguments || error.error.code == .locked
      else { throw error }
      guard items.count > 1 else { return [:] }
      var some: [ObjectPath: ReceivedSecret] = [:]
      for item in items { some.merge(try self.secrets(of: [item], call)) { $1 } }
      return some
    }
    if !isProven, let (path, secret) = secrets.first(where: { !$0.value.isEmpty }) {
      guard try prove(by: secret, of: path, call) else { return try self.secrets(of: items, call) }
    }
    return secrets
  }

  private func answeredSecrets(
    of items: [ObjectPath], _ call: Call
  ) throws(BusFailure) -> [ObjectPath: ReceivedSecret] {
    var secrets: [ObjectPath: ReceivedSecret] = [:]
    for (path, encoded) in try encodedSecrets(of: items, call) {
      secrets[path] = try decode(encoded)
    }
    return secrets
  }

  /// The secrets of items as they cross the bus, `(oayays)` each.
  private func encodedSecrets(
    of items: [ObjectPath], _ call: Call
  ) throws(BusFailure) -> [(ObjectPath, Variant)] {
    let session = sessionPath
    let answer = try self.call(
      .service("GetSecrets"), at: .service, [.paths(items), .path(session)],
      as: "(a{o(oayays)})", call)
    return (answer[0].secrets ?? []).filter { items.contains($0.0) }
  }

  /// Whether a secret that can't be decrypted here may be empty: AES turns no bytes into one block.
  private static func mayBeEmpty(_ encoded: Variant) -> Bool { encoded[2].count <= 16 }

  /// Checks once that both sides have the same key for this session.
  ///
  /// With KWallet the keys differ in one session of 256, when a number begins with a zero byte.
  /// Bytes that were decrypted with another key are random. They usually look like a secret, but
  /// two reads never give the same bytes.
  ///
  /// - Returns: false when the item is gone, which proves nothing.
  private func prove(
    by secret: ReceivedSecret, of path: ObjectPath, _ call: Call
  ) throws(BusFailure) -> Bool {
    var last = secret
    // Another program may write the item meanwhile, but hardly before each read.
    for _ in 0..<Self.proofs {
      guard let again = try answeredSecrets(of: [path], call)[path] else { return false }
      if again.withBytes({ one in last.withBytes { ConstantTime.equal(one, $0) } }) {
        isProven = true
        return true
      }
      last = again
    }
    throw .foreignKey
  }

  private static let proofs = 8

  /// Checks that both sides have the same key, by the items with the attributes if there are any.
  ///
  /// - Returns: the items; nil when the key needs no proof.
  private func proveIfNeeded(
    _ attributes: [String: String], in collection: ObjectPath, _ call: Call
  ) throws(BusFailure) -> [ObjectPath]? {
    guard !isProven else { return nil }
    let items = try search(attributes, in: collection, call)
    if !items.isEmpty { _ = try secrets(of: items, call) }
    return items
  }

  /// Checks that both sides have the same key by an item that was just made, if it can be read.
  private func proveIfPossible(by item: ObjectPath, _ call: Call) throws(BusFailure) {
    do throws(BusFailure) { _ = try secrets(of: [item], call) } catch {
      // Whatever else goes wrong now, the item was made.
      if error.kind == .foreignKey { throw error }
    }
  }

  /// The collection of an alias, such as `default`; nil when the service has none of that alias.
  func collection(alias: String, _ call: Call) throws(BusFailure) -> ObjectPath? {
    let name = try storage { () throws(StorageError) in try Variant.string(alias) }
    let answer = try self.call(.service("ReadAlias"), at: .service, [name], as: "(o)", call)
    guard let path = answer[0].path, path != .none else { return nil }
    return path
  }

  /// All collections.
  func collections(_ call: Call) throws(BusFailure) -> [ObjectPath] {
    let value = try property("Collections", of: "Service", at: .service, call)
    guard let paths = value.paths else { throw Self.malformed("Collections") }
    return paths
  }

  /// Whether a collection, or an item, is locked.
  ///
  /// - Throws: of the kind `noObject` when the object does not exist.
  func isLocked(
    _ path: ObjectPath, interface: String = "Collection", _ call: Call
  ) throws(BusFailure) -> Bool {
    guard let isLocked = try property("Locked", of: interface, at: path, call).boolean else {
      throw Self.malformed("Locked")
    }
    return isLocked
  }

  /// The label of a collection.
  func label(
    of path: ObjectPath, interface: String = "Collection", _ call: Call
  ) throws(BusFailure) -> String {
    guard let label = try property("Label", of: interface, at: path, call).text else {
      throw Self.malformed("Label")
    }
    return label
  }

  /// The items of a collection; empty when the collection is locked and hides them.
  func items(of collection: ObjectPath, _ call: Call) throws(BusFailure) -> [ObjectPath] {
    guard let items = try property("Items", of: "Collection", at: collection, call).paths else {
      throw Self.malformed("Items")
    }
    return items
  }

  /// The attributes of an item, with those that the service adds.
  func attributes(
    of item: ObjectPath, _ call: Call
  ) throws(BusFailure) -> [String: String] {
    let value = try property("Attributes", of: "Item", at: item, call)
    guard let attributes = value.attributes else { throw Self.malformed("Attributes") }
    return attributes
  }

  /// All properties of an item.
  func properties(of item: ObjectPath, _ call: Call) throws(BusFailure) -> [String: Variant] {
    let interface = try storage { () throws(StorageError) in
      try Variant.string("org.freedesktop.Secret.Item")
    }
    let answer = try self.call(.properties("GetAll"), at: item, [interface], as: "(a{sv})", call)
    guard let properties = answer[0].properties else { throw Self.malformed("GetAll") }
    return properties
  }

  private func property(
    _ name: String, of interface: String, at path: ObjectPath, _ call: Call
  ) throws(BusFailure) -> Variant {
    let arguments = try storage { () throws(StorageError) in
      [try Variant.string("org.freedesktop.Secret." + interface), try Variant.string(name)]
    }
    let answer = try self.call(.properties("Get"), at: path, arguments, as: "(v)", call)
    guard let value = answer[0].boxed else { throw Self.malformed(name) }
    return value
  }

  /// Changes a property of an item.
  func set(
    _ name: String, of item: ObjectPath, to value: Variant, _ call: Call
  ) throws(BusFailure) {
    let arguments = try storage { () throws(StorageError) in
      [
        try Variant.string("org.freedesktop.Secret.Item"), try Variant.string(name),
        Variant.variant(value),
      ]
    }
    _ = try write(.properties("Set"), at: item, arguments, as: "()", call)
    call.hasWritten = true
  }

  // MARK: - Calls that may prompt

  /// Unlocks collections or items.
  ///
  /// - Throws: `locked`, `dismissed` or `timedOut` when they stay locked.
  func unlock(_ paths: [ObjectPath], _ call: Call) throws(BusFailure) {
    let answer = try self.call(.service("Unlock"), at: .service, [.paths(paths)], as: "(aoo)", call)
    guard let prompt = Prompt(answer[1].path ?? .none, on: self) else { return }
    _ = try prompt.perform(for: "unlocking the keyring", call)
  }

  /// Locks collections.
  func lock(_ paths: [ObjectPath], _ call: Call) throws(BusFailure) {
    let answer = try self.call(.service("Lock"), at: .service, [.paths(paths)], as: "(aoo)", call)
    guard let prompt = Prompt(answer[1].path ?? .none, on: self) else { return }
    _ = try prompt.perform(for: "locking the keyring", call)
  }

  /// Makes an item, or replaces the one that has the same attributes.
  ///
  /// - Returns: its path, and whether the user was asked: the caller must then read the item back.
  func createItem(
    in collection: ObjectPath, label: String, attributes: [String: String], secret: Variant,
    replacing: Bool, _ call: Call
  ) throws(BusFailure) -> (item: ObjectPath, wasPrompted: Bool) {
    let properties = try storage { () throws(StorageError) in
      try Variant.properties([
        "org.freedesktop.Secret.Item.Label": .string(label),
        "org.freedesktop.Secret.Item.Attributes": .attributes(attributes),
      ])
    }
    let before = try proveIfNeeded(attributes, in: collection, call)
    let hadWritten = call.hasWritten
    var made: ObjectPath?
    do throws(BusFailure) {
      let answer = try write(
        .collection("CreateItem"), at: collection, [properties, secret, .boolean(replacing)],
        as: "(oo)", call)
      if let prompt = Prompt(answer[1].path ?? .none, on: self) {
        let result = try self.answer(of: prompt, for: "storing an item", call)
        call.hasWritten = true
        return (result.path ?? .none, true)
      }
      call.hasWritten = true
      let item = answer[0].path ?? .none
      if item != .none { made = item }
      if !isProven, item != .none { try proveIfPossible(by: item, call) }
      return (item, false)
    } catch {
      guard error.kind == .foreignKey, let before else { throw error }
      if let made {
        // This session's wrong key made the item; nobody else can have stored a secret in it and
        // read it back.
        if !before.contains(made) { try delete(made, call) }
      } else {
        try removeHalfMade(attributes, in: collection, but: before, call)
      }
      call.hasWritten = hadWritten
      throw error
    }
  }

  /// Deletes the empty item that a service makes of a secret that it can't decrypt.
  ///
  /// KWallet makes the item before it decrypts the secret, and leaves the item empty. Nothing else
  /// is deleted: an item that has other attributes too, or a secret, was made by another program
  /// meanwhile.
  private func removeHalfMade(
    _ attributes: [String: String], in collection: ObjectPath, but before: [ObjectPath],
    _ call: Call
  ) throws(BusFailure) {
    for item in try search(attributes, in: collection, call) where !before.contains(item) {
      guard try self.attributes(of: item, call).withoutAdded.isExactly(attributes),
        try encodedSecrets(of: [item], call).allSatisfy({ Self.mayBeEmpty($1) })
      else { continue }
      try delete(item, call)
    }
  }

  /// Replaces the secret of an item.
  func setSecret(_ secret: Variant, of item: ObjectPath, _ call: Call) throws(BusFailure) {
    if !isProven { _ = try secrets(of: [item], call) }
    _ = try write(.item("SetSecret"), at: item, [secret], as: "()", call)
    call.hasWritten = true
    // The key is unproven if the item was empty before.
    if !isProven { try proveIfPossible(by: item, call) }
  }

  /// Deletes an item; does nothing if the item does not exist.
  ///
  /// - Returns: whether the user was asked.
  @discardableResult
  func delete(_ item: ObjectPath, _ call: Call) throws(BusFailure) -> Bool {
    let answer: Variant
    do throws(BusFailure) {
      answer = try write(.item("Delete"), at: item, as: "(o)", call)
    } catch {
      guard error.kind == .noObject else { throw error }
      return false
    }
    let prompt = Prompt(answer[0].path ?? .none, on: self)
    if let prompt { _ = try self.answer(of: prompt, for: "deleting an item", call) }
    call.hasWritten = true
    return prompt != nil
  }

  /// The result of a prompt that asks the user to confirm a change.
  ///
  /// - Throws: `locked` and `dismissed` when nothing was changed; else `outcomeUnknown`, since the
  ///   user may have agreed already.
  private func answer(
    of prompt: Prompt, for purpose: String, _ call: Call
  ) throws(BusFailure) -> Variant {
    do throws(BusFailure) {
      return try prompt.perform(for: purpose, call)
    } catch {
      switch error.error.code {
      case .locked, .dismissed: throw error
      case let code:
        throw BusFailure(
          error.kind,
          StorageError(
            .outcomeUnknown,
            "\(purpose) needed the user's answer to a prompt, but no answer came (\(code)). The change "
              + "may have been made or not; look at what is stored before you try again"))
      }
    }
  }

  /// Calls a method that changes something.
  ///
  /// - Throws: `outcomeUnknown` when no answer came: the service may have made the change.
  private func write(
    _ method: Method, at path: ObjectPath, _ parameters: [Variant] = [], as type: String,
    _ call: Call
  ) throws(BusFailure) -> Variant {
    _ = try call.milliseconds(for: method.name)
    do throws(BusFailure) {
      return try self.call(method, at: path, parameters, as: type, call)
    } catch {
      guard
        error.kind == .connectionLost || error.error.code == .timedOut
          || error.error.code == .cancelled
      else { throw error }
      throw BusFailure(
        error.kind,
        StorageError(
          .outcomeUnknown,
          "the keyring service did not answer \(method.name) (\(error.error.code)). The change may "
            + "have been made or not; look at what is stored before you try again"))
    }
  }

  static func malformed(_ name: String) -> BusFailure {
    BusFailure(.damaged, "\(name): the keyring service answered with data of the wrong type")
  }
}

/// Runs `body` and turns its `StorageError` into a failure of a call.
func storage<Result>(
  _ body: () throws(StorageError) -> Result
) throws(BusFailure) -> Result {
  do throws(StorageError) { return try body() } catch { throw BusFailure(.other, error) }
}
