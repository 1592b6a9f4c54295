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

    /// The items where `items` says; with an id, only the item that has it.
    init(_ items: ItemOptions, _ id: String? = nil) throws {
      var options: KeyringOptions = [
        .access(KeyringAccess(deadline: .milliseconds(Int64(items.wait * 1000))))
      ]
      if let group = items.group { options.insert(.group(group)) }
      if let id { options.insert(.id(id)) }
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
      guard found.count <= 1 else {
        throw PlainItem.several(found.compactMap { PlainItem($0) }, service)
      }
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
      try listingSeveral(service, account) {
        try Keyring.modify(
          changes, for: Query(attributes: attributes(service, account), options: options))
      }
    }

    /// The items of a service, or all that have one.
    func all(of service: String?) throws -> [PlainItem] {
      let found = try Keyring.search(
        for: service.map { [.service($0)] } ?? [],
        with: options.union([.matchLimit(.all), .returnAttributes(true)]))
      return found.compactMap { PlainItem($0) }
    }

    /// Removes the only item of a service, or of one of its accounts.
    ///
    /// - Returns: whether there was one.
    func remove(_ service: String, _ account: String?) throws -> Bool {
      try listingSeveral(service, account) {
        try Keyring.remove(Query(attributes: attributes(service, account), options: options)) > 0
      }
    }

    /// Runs `body`; if it finds several items, lists them.
    private func listingSeveral<Result>(
      _ service: String, _ account: String?, _ body: () throws -> Result
    ) throws -> Result {
      do {
        return try body()
      } catch let error as StorageError where error.code == .duplicate {
        let found = try all(of: service).filter { item in
          account.map { item.account?.isExactly($0) == true } ?? true
        }
        // Others may have removed items meanwhile, and a collection may be the duplicate.
        guard found.count > 1 else { throw error }
        throw PlainItem.several(found, service)
      }
    }
  }

  extension PlainItem {
    /// Nil for an item without a service.
    fileprivate init?(_ item: KeyringItem) {
      guard let service = item.service, let id = item.id else { return nil }
      let known: Set<String> = ["service", "account", "username", "user", "xdg:schema"]
      self.init(
        id: id, service: service, account: item.account, label: item.label, created: item.created,
        modified: item.modified, others: item.attributes.filter { !known.contains($0.key) })
    }
  }
#endif
