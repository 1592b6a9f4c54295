internal import CryptoCore
internal import Dispatch
internal import StorageCore

internal import struct FoundationEssentials.Data

/// The place of a credential and its current account; copies of a wrapper share this object.
final class SharedCredential: Sendable {
  private struct State {
    var account: String?
    /// The number of account changes, including one in progress.
    var moves = 0
  }

  let place: CredentialPlace
  let group: String?
  let access: KeyringAccess
  let client: KeyringClient
  private let errorClosure: StorageErrorClosure?
  private let state: Lock<State>
  /// Has one name at most, that of the credential.
  let failedReads = FailedReads()
  /// Lets calls that change the item or its account run one after the other.
  private let turn = DispatchSemaphore(value: 1)

  init(
    _ place: CredentialPlace, account: String?, group: String?, access: KeyringAccess,
    client: KeyringClient, errorClosure: StorageErrorClosure?
  ) {
    self.place = place
    self.group = group
    self.access = access
    self.client = client
    self.errorClosure = errorClosure
    state = Lock(State(account: account))
  }

  /// The account that is looked for; nil for any.
  var account: String? { state.withLock { $0.account } }

  var query: ItemQuery { place.query(account, in: group) }

  func report(_ error: StorageError) {
    StorageDiagnostics.report(error, to: errorClosure)
  }

  private func perform<Result>(
    _ body: (BusConnection, Call) throws(BusFailure) -> Result
  ) throws(StorageError) -> Result {
    do throws(StorageError) {
      if let failure = place.failure { throw failure }
      return try client.perform(access, body)
    } catch {
      throw error.about(place.name)
    }
  }

  /// Runs `body` alone among the calls that change the item or the account.
  private func alone<Result>(
    _ body: () throws(StorageError) -> Result
  ) throws(StorageError) -> Result {
    let end = ContinuousClock.now + access.deadline + access.promptDeadline
    // Waits in short pieces: a semaphore knows nothing of cancelled tasks.
    while turn.wait(timeout: .now() + .milliseconds(50)) != .success {
      if Cancellation.current?.isCancelled == true {
        throw StorageError(
          .cancelled, "the task was cancelled while it waited for another call", key: place.name)
      }
      guard ContinuousClock.now < end else {
        throw StorageError(
          .busy, "another call of the program keeps changing the credential; try again",
          key: place.name)
      }
    }
    defer { turn.signal() }
    return try body()
  }

  /// Returns what `body` finds; runs it once more if the account changed meanwhile.
  private func found<Found>(
    _ body: () throws(StorageError) -> Found?
  ) throws(StorageError) -> Found? {
    let moves = state.withLock { $0.moves }
    if let found = try body() { return found }
    guard state.withLock({ $0.moves }) != moves || !moves.isMultiple(of: 2) else { return nil }
    return try alone(body)
  }

  // MARK: - Reading

  /// The found items, if they are not sealed.
  ///
  /// Items of exactly this port and path come before those that have none.
  private func find(
    _ query: ItemQuery, _ connection: BusConnection, _ call: Call
  ) throws(BusFailure) -> FoundItems {
    let found = try connection.find(query, call)
    let plain = found.items.filter { $0.attributes[AttributeName.sealed] == nil }
    guard !plain.isEmpty || found.items.isEmpty else {
      throw BusFailure(
        .typeMismatch,
        "the item exists but is sealed; fetch it with the Keyring that sealed it")
    }
    let exact = plain.filter { place.isExact($0) }
    return FoundItems(
      items: exact.isEmpty ? plain : exact, count: found.count, subject: found.subject)
  }

  func read() throws(StorageError) -> PlainSecret? {
    try found { () throws(StorageError) in
      let query = query
      return try perform { (connection, call) throws(BusFailure) in
        guard let item = try find(query, connection, call).only(),
          let secret = try connection.secret(of: item.path, call)
        else { return nil }
        return PlainSecret(try secret.secured(), said: secret.contentType)
      }
    }
  }

  /// Whether there is an item, even if its secret can't be read.
  func contains() throws(StorageError) -> Bool {
    let isThere: Bool? = try found { () throws(StorageError) in
      let query = query
      return try perform { (connection, call) throws(BusFailure) in
        try connection.find(query, call).items.isEmpty ? nil : true
      }
    }
    return isThere == true
  }

  /// The item with all of its attributes.
  func item() throws(StorageError) -> KeyringItem? {
    try found { () throws(StorageError) in
      let query = query
      return try perform { (connection, call) throws(BusFailure) in
        guard let item = try find(query, connection, call).only(),
          let secret = try connection.secret(of: item.path, call)
        else { return nil }
        let data = secret.withBytes { span in unsafe span.withUnsafeBytes { unsafe Data($0) } }
        return KeyringItem(item, data: data, hasAttributes: true)
      }
    }
  }

  /// The account that is looked for, or the account of the existing item.
  func storedAccount() throws(StorageError) -> String? {
    if let account { return account }
    let query = query
    return try perform { (connection, call) throws(BusFailure) in
      try find(query, connection, call).only().flatMap { AccountNames.get($0.attributes) }
    }
  }

  // MARK: - Writing

  func write(_ secret: PlainSecret) throws(StorageError) {
    let path = try alone { () throws(StorageError) in
      let (query, account) = (query, account)
      let content = ItemContent(
        label: place.label.isEmpty ? "Secret" : place.label, attributes: place.made(account),
        secret: secret)
      return try perform { (connection, call) throws(BusFailure) in
        try connection.put(
          content, over: try find(query, connection, call), in: group, call)
      }
    }
    note(path)
  }

  func remove() throws(StorageError) {
    let path = try alone { () throws(StorageError) in
      let query = query
      return try perform { (connection, call) throws(BusFailure) in
        let item = try find(query, connection, call).only()
        if let item { try connection.remove(item.path, call) }
        return item?.path
      }
    }
    if let path { note(path) }
  }

  /// Changes the account of the existing item, in one step, and looks for the new account from now
  /// on.
  func setAccount(_ account: String?) throws(StorageError) {
    let path = try alone { () throws(StorageError) in
      state.withLock { $0.moves += 1 }
      defer { state.withLock { $0.moves += 1 } }
      let path = try moveItem(to: account)
      state.withLock { $0.account = account }
      return path
    }
    if let path { note(path) }
  }

  private func moveItem(to account: String?) throws(StorageError) -> ObjectPath? {
    let (before, after) = (query, place.query(account, in: group))
    return try perform { (connection, call) throws(BusFailure) in
      guard let item = try find(before, connection, call).only() else {
        return Optional<ObjectPath>.none
      }
      var attributes = item.attributes
      AccountNames.set(account, in: &attributes)
      guard !attributes.isExactly(item.attributes) else { return nil }
      if account != nil,
        try connection.find(after, call).items.contains(where: {
          $0.path != item.path
        })
      {
        throw BusFailure(
          .duplicate, "another item has this account already; neither was changed")
      }
      try connection.setAttributes(attributes, of: item.path, call)
      guard let now = try connection.snapshot(of: item.path, call),
        AccountNames.get(now.attributes) == account
      else {
        throw BusFailure(
          .outcomeUnknown,
          "the keyring service accepted the account but now returns another one; read the item again"
        )
      }
      return item.path
    }
  }

  private func note(_ path: ObjectPath) { client.signals.note(path, by: client) }
}
