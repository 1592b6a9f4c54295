internal import CryptoCore
internal import StorageCore

/// Looks at a keyring step by step: bus, service, collection, keys.
struct KeyringInspection {
  let client: KeyringClient
  let access: KeyringAccess

  /// The findings, and whether the service encrypts secrets on the bus; nil where no service
  /// answers.
  func findings(keys: [String]) -> (findings: [KeyringReport.Finding], isEncrypted: Bool?) {
    let isEncrypted = Lock<Bool?>(nil)
    var findings: [KeyringReport.Finding] = []
    var needed: StorageError?
    for (subject, look) in steps(isEncrypted) where needed == nil {
      var label: String?
      do throws(StorageError) { try look(&label) } catch { needed = error }
      findings.append(.init(subject: subject, error: needed, label: label))
    }
    findings += keys.map { finding(ofKey: $0, needed) }
    return (findings, isEncrypted.withLock { $0 })
  }

  private typealias Look = (inout String?) throws(StorageError) -> Void

  private func steps(_ isEncrypted: Lock<Bool?>) -> [(KeyringReport.Subject, Look)] {
    [
      (.bus, { (_) throws(StorageError) in try client.reachBus(access) }),
      (
        .service,
        { (_) throws(StorageError) in
          _ = try client.perform(access) { (connection, call) throws(BusFailure) in
            isEncrypted.withLock { $0 = connection.isEncrypted }
            return try connection.collections(call)
          }
        }
      ),
      (.collection, lookAtDefaultCollection),
    ]
  }

  private func lookAtDefaultCollection(_ label: inout String?) throws(StorageError) {
    var seen: String?
    defer { label = seen }
    try client.perform(access) { (connection, call) throws(BusFailure) in
      let path = try connection.collection(named: nil, call)
      seen = try connection.label(of: path, call)
      guard try !connection.isLocked(path, call) else {
        throw BusFailure(
          .locked,
          "the default collection is locked; log in to the desktop, or unlock it in the desktop's "
            + "keyring program")
      }
    }
  }

  /// The key of a name.
  ///
  /// `needed` says why the default collection can't be used. If it is only locked or missing, the
  /// key may still be in another collection.
  private func finding(ofKey name: String, _ needed: StorageError?) -> KeyringReport.Finding {
    var error = needed
    if needed.map({ [.locked, .noCollection].contains($0.code) }) ?? true {
      do throws(StorageError) {
        try look(forKey: name)
        error = nil
      } catch let failure { error = failure }
    }
    return .init(subject: .key(name), error: error, label: nil)
  }

  private func look(forKey name: String) throws(StorageError) {
    let attributes = KeyringKey.attributes(of: name)
    try client.perform(access) { (connection, call) throws(BusFailure) in
      // KeePassXC's search would unlock by itself, and wait; this call throws `locked` instead.
      try connection.unlockSomething(call)
      let found = try connection.matches(attributes, in: nil, call)
      guard found.unlocked.count + found.locked.count < 2 else {
        throw KeyringKey.duplicate(name)
      }
      guard found.locked.isEmpty else {
        throw BusFailure(.locked, "it is in a locked collection; unlock the collection")
      }
      guard found.unlocked.isEmpty else {
        guard connection.isEncrypted || access.allowsPlainKeys else { throw KeyringKey.plain }
        return
      }
      for each in try connection.collections(call) where try connection.isLocked(each, call) {
        guard try !connection.items(of: each, call).isEmpty else {
          throw BusFailure(
            .locked, "a locked collection may contain it without showing it; unlock the collection")
        }
      }
      throw BusFailure(
        .keyUnavailable,
        "the keyring has no such item; put it back from a backup, or open the store with another of "
          + "its keys")
    }
  }
}
