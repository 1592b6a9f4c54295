#if Keyring
  internal import CryptoCore
  internal import Foundation
  internal import KeyringBackend
  internal import StorageCore

  /// The plain items of the desktop's keyring, by service and account.
  struct PlainItems {
    private struct Query: KeyringQueryable {
      let attributes: KeyringAttributes
      let options: KeyringOptions
    }

    private let options: KeyringOptions

    init(_ items: ItemOptions) throws {
      var options: KeyringOptions = [
        .access(KeyringAccess(deadline: .milliseconds(Int64(items.wait * 1000))))
      ]
      if let group = items.group { options.insert(.group(group)) }
      self.options = options
    }

    private func attributes(_ service: String, _ account: String?) -> KeyringAttributes {
      var attributes: KeyringAttributes = [.service(service)]
      if let account { attributes.insert(.account(account)) }
      return attributes
    }

    /// The secret of the only item of a service, or of one of its accounts.
    func secret(of service: String, _ account: String?) throws -> [UInt8] {
      let wanted = attributes(service, account)
      // Without their secrets, of which all but one are none of the caller's business.
      let found = try Keyring.search(
        for: wanted, with: options.union([.matchLimit(.all), .returnAttributes(true)]))
      guard found.count <= 1 else { throw Self.several(found, service) }
      guard found.first?["sps:sealed"] == nil else {
        throw Failure(
          .typeMismatch,
          "the secret is sealed by the application that stored it, and only that application can open it",
          key: service)
      }
      let items = try Keyring.search(
        for: wanted, with: options.union([.matchLimit(.first), .returnData(true)]))
      guard let data = items.first?.data else { throw PlainItem.absent(service, account) }
      return Array(data)
    }

    /// Stores a secret in the item of a service and an account, which is made if need be.
    func store(
      _ secret: SecureBytes, of service: String, _ account: String, label: String?
    ) throws {
      let content: KeyringAttribute =
        secret.text.map { .password($0) } ?? .data(Data(secret.array))
      var changes: KeyringAttributes = [content]
      if let label { changes.insert(.label(label)) }
      try Keyring.modify(
        changes, for: Query(attributes: attributes(service, account), options: options))
    }

    /// The items of a service, or all that have one.
    func all(of service: String?) throws -> [PlainItem] {
      let found = try Keyring.search(
        for: service.map { [.service($0)] } ?? [],
        with: options.union([.matchLimit(.all), .returnAttributes(true)]))
      return found.compactMap { item in
        item.service.map {
          PlainItem(service: $0, account: item.account, label: item.label, modified: item.modified)
        }
      }
    }

    /// Removes the only item of a service, or of one of its accounts.
    ///
    /// - Returns: whether there was one.
    func remove(_ service: String, _ account: String?) throws -> Bool {
      try Keyring.remove(Query(attributes: attributes(service, account), options: options)) > 0
    }

    private static func several(_ items: [KeyringItem], _ service: String) -> Failure {
      let accounts = Set(items.map { $0.account ?? "-" }).sorted().joined(separator: ", ")
      return Failure(
        .duplicate,
        "the keyring has \(items.count) such items, of the accounts \(accounts); name one",
        key: service)
    }
  }
#endif
