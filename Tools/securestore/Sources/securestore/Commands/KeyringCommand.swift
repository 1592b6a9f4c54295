internal import ArgumentParser
internal import CryptoCore
internal import Foundation
internal import Glibc

/// The commands on plain items of the desktop's keyring, which other programs share.
struct KeyringCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "keyring", abstract: "Look after plain items of the desktop's keyring.",
    discussion: """
      Plain items are shared with other programs: securestore keyring get SERVICE ACCOUNT prints the \
      secret that secret-tool lookup service SERVICE account ACCOUNT prints, and that @SecureCredentials \
      reads. They need no vault and no key. Sealed values of an application are not among them.
      """,
    subcommands: [
      GetItemCommand.self, SetItemCommand.self, ListItemsCommand.self, RemoveItemCommand.self,
    ])
}

/// Where items are looked for.
struct ItemOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The collection, by its alias or its label; without it all collections, and the default one for a "
        + "new item.", valueName: "name"))
  var group: String?

  @Option(
    help: ArgumentHelp("How long to wait for the keyring.", valueName: "seconds"))
  var wait = 60.0

  func validate() throws {
    guard wait >= 0, wait <= 86_400 else { throw ValidationError("--wait is 0 to 86400 seconds") }
  }
}

/// One of several items that are otherwise alike.
struct ChosenItem: ParsableArguments {
  @Option(
    name: .customLong("item"),
    help: ArgumentHelp(
      "The item, by its id, which tells items apart that are otherwise alike.", valueName: "id"))
  var id: String?
}

/// Writes the secret of an item to standard output.
struct GetItemCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "get", abstract: "Write the secret of an item to standard output.",
    discussion: """
      The secret is written unchanged; on a terminal, a line break follows it. Exits with 1 if there is no such \
      item. If there are several, it lists them and exits with 23: name the account or the item then.
      """)

  @Argument(help: "The service of the item.") var service: String
  @Argument(help: "The account; may be left out if the service has only one item.")
  var account: String?

  @OptionGroup(title: "Item") var item: ChosenItem
  @OptionGroup(title: "Keyring") var items: ItemOptions
  @OptionGroup(title: "Output") var output: OutputOptions

  func run() throws {
    let secret = try PlainItems(items, item.id).secret(of: service, account)
    let text = String(validating: secret, as: UTF8.self)
    if output.isJSON {
      return try output.output.json([
        "service": service, "account": account, "encoding": text == nil ? "base64" : "utf-8",
        "secret": text ?? Data(secret).base64EncodedString(),
      ])
    }
    try Output.write(secret: secret, isText: text != nil, "secret", key: service)
  }
}

/// Stores the secret of an item.
struct SetItemCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "set",
    abstract: "Store the secret of an item, read from standard input or a prompt.",
    discussion: """
      On a terminal the secret is one line, which is not shown. From a pipe or a file it is all of the input; \
      one line break at the end is removed, unless --raw is given. An existing item keeps its label and \
      attributes; otherwise an item is made. A secret of no bytes is refused unless --allow-empty is given. A \
      text of several lines is refused for a keyring without a password, unless --allow-lines is given: \
      gnome-keyring may lose that keyring.
      """)

  @Argument(help: "The service of the item.") var service: String
  @Argument(help: "The account of the item.") var account: String
  // Caught here, since the parser's own message would repeat it.
  @Argument(help: .hidden) var rest: [String] = []

  @Option(help: ArgumentHelp("What keyring programs show of the item.", valueName: "text"))
  var label: String?

  @Flag(name: .customLong("raw"), help: "Keep the line break at the end of text.")
  var isRaw = false

  @Flag(name: .customLong("allow-empty"), help: "Accept a secret of no bytes.")
  var allowsEmpty = false

  @Flag(
    name: .customLong("allow-lines"),
    help: "Store a text of several lines in an unencrypted keyring, which gnome-keyring may lose.")
  var allowsLines = false

  @OptionGroup(title: "Item") var item: ChosenItem
  @OptionGroup(title: "Keyring") var items: ItemOptions
  @OptionGroup(title: "Output") var output: OutputOptions

  func validate() throws {
    guard rest.isEmpty else {
      throw ValidationError(
        "a secret is never an argument, where every program can see it; leave it out to be asked, or "
          + "send it through a pipe")
    }
  }

  func run() throws {
    try ValueName.requireNoValue(in: account)
    let keyring = try PlainItems(items, item.id)
    let secret = try read()
    guard allowsEmpty || secret.count > 0 else {
      throw Failure(
        .malformedInput, "the secret is empty, and nothing was changed; --allow-empty stores it so",
        key: service)
    }
    try requireOneLine(secret, keyring)
    try keyring.store(secret, of: service, account, label: label)
    try output.output.done(
      "stored the secret of \(service), account \(account)",
      ["service": service, "account": account, "stored": true])
  }

  /// Refuses a text of several lines that would go into an unencrypted keyring.
  private func requireOneLine(_ secret: SecureBytes, _ keyring: PlainItems) throws {
    // gnome-keyring writes what is not text as hexadecimal digits.
    guard !allowsLines, let text = secret.text, text.utf8.contains(UInt8(ascii: "\n")) else {
      return
    }
    let keyrings = try UnencryptedKeyrings()
    guard !keyrings.labels.isEmpty else { return }
    let ids = try keyring.all(of: service).filter { $0.account?.isExactly(account) == true }.map(
      \.id)
    guard let label = keyrings.target(of: ids, items.group) else { return }
    throw Failure(
      .unsupported,
      "nothing was stored: the secret has several lines, and the keyring \"\(label)\" has no password. "
        + "\(UnencryptedKeyrings.advice). Give the keyring a password, or store the secret in one line, such "
        + "as Base64; --allow-lines stores it all the same", key: service)
  }

  private func read() throws -> SecureBytes {
    if isatty(STDIN_FILENO) == 1 {
      let terminal = try Terminal(for: "a secret", instead: "a pipe")
      return try terminal.askSecret("Secret of \(service), account \(account): ")
    }
    let bytes = try SecretInput.all(of: STDIN_FILENO)
    // The last byte of a secret that is no text is a part of it.
    return isRaw || bytes.text == nil ? bytes : try bytes.withoutLineBreak()
  }
}

/// Lists items, without their secrets.
struct ListItemsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List items with service, account and label, and no secret.",
    discussion: """
      Without a service it lists all items of the keyring that have one. KeePassXC finds items by a service \
      only.
      """)

  @Argument(help: "The service of the items; without it, all items.") var service: String?

  @OptionGroup(title: "Keyring") var items: ItemOptions
  @OptionGroup(title: "Output") var output: OutputOptions

  func run() throws {
    let found = try PlainItems(items).all(of: service).sorted {
      ($0.service, $0.account ?? "") < ($1.service, $1.account ?? "")
    }
    if output.isJSON {
      return try output.output.json(["items": found])
    }
    let rows = found.map { item in
      [item.service, item.account ?? "-", item.label ?? ""].map { Printable.line($0) }
    }
    try Output.write(table: rows)
  }
}

/// Removes an item.
struct RemoveItemCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove", abstract: "Remove an item for good.",
    discussion: """
      Exits with 1 if there is no such item, unless --force is given. If there are several, it removes none, \
      lists them and exits with 23: name the account or the item then.
      """)

  @Argument(help: "The service of the item.") var service: String
  @Argument(help: "The account; may be left out if the service has only one item.")
  var account: String?

  @Flag(
    name: [.customLong("force"), .customShort("f")], help: "Succeed if there is no such item.")
  var isForced = false

  @OptionGroup(title: "Item") var item: ChosenItem
  @OptionGroup(title: "Keyring") var items: ItemOptions
  @OptionGroup(title: "Output") var output: OutputOptions

  func run() throws {
    let isRemoved = try PlainItems(items, item.id).remove(service, account)
    guard isRemoved || isForced else { throw PlainItem.absent(service, account) }
    let title = service + (account.map { ", account \($0)" } ?? "")
    try output.output.done(
      isRemoved ? "removed \(title)" : "nothing to remove",
      ["removed": isRemoved])
  }
}

/// An item of the keyring as it is listed.
struct PlainItem: JSONConvertible {
  let id: String
  let service: String
  let account: String?
  let label: String?
  let created: Date?
  let modified: Date?
  /// All attributes but the service and the account.
  let others: [String: String]

  var json: JSONValue {
    [
      "service": service, "account": account, "label": label,
      "created": created?.formatted(.iso8601), "modified": modified?.formatted(.iso8601), "id": id,
      "attributes": others,
    ]
  }

  /// The item in one line, with what may tell it apart from others.
  var line: String {
    var parts = ["account \(account ?? "-")", "label \"\(label ?? "")\""]
    if let created { parts.append("made \(created.formatted(.iso8601))") }
    if let modified { parts.append("changed \(modified.formatted(.iso8601))") }
    parts += others.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
    return "item \(id): " + parts.joined(separator: ", ")
  }

  /// The error of a command that is about one item and found several.
  static func several(_ items: [PlainItem], _ service: String) -> Failure {
    var failure = Failure(
      .duplicate,
      "the keyring has \(items.count) such items, listed above; name the account, or the item with "
        + "--item ID",
      key: service)
    failure.choices = items
    return failure
  }

  static func absent(_ service: String, _ account: String?) -> Failure {
    Failure(
      .absent,
      account == nil
        ? "the keyring has no plain item of this service"
        : "the keyring has no plain item of this service and account; see keyring list",
      key: service)
  }
}
