import Foundation
import KeyringTesting
import TestSupport
import Testing

@testable import KeyringBackend

/// Other programs at the same keyring: `secret-tool`, Python's SecretStorage and its keyring.
final class Foreign {
  private let environment: [String: String?]
  private let folder: URL
  private var interpreter: Child?

  init(_ desktop: Desktop) throws {
    // The service that somebody else has started has the home of these tests.
    let own = desktop.keyring?.environment ?? ["DBUS_SESSION_BUS_ADDRESS": desktop.address]
    environment = own.merging([
      "PYTHON_KEYRING_BACKEND": "keyring.backends.SecretService.Keyring"
    ]) { $1 }.mapValues { $0 }
    folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  private func file(_ name: String) -> URL { folder.appendingPathComponent(name) }

  // MARK: - secret-tool

  /// `secret-tool store`.
  func store(
    _ secret: [UInt8], label: String = "a label", _ attributes: [String: String]
  ) throws {
    try Data(secret).write(to: file("in"))
    let lines = try secretTool(
      "secret-tool store \"${@:2}\" <\"$1\" 2>&1; echo $?", file("in"),
      ["--label=\(label)"] + attributes.flatMap { [$0.key, $0.value] })
    try #require(lines == ["0"], "\(lines)")
  }

  /// `secret-tool lookup`; nil when it finds nothing.
  func lookUp(_ attributes: [String: String]) throws -> [UInt8]? {
    let lines = try secretTool(
      "secret-tool lookup \"${@:2}\" >\"$1\"; echo $?", file("out"),
      attributes.flatMap { [$0.key, $0.value] })
    let status = try #require(lines.last)
    return status == "0" ? Array(try Data(contentsOf: file("out"))) : nil
  }

  /// `secret-tool clear`.
  func clear(_ attributes: [String: String]) throws {
    let lines = try secretTool(
      "secret-tool clear \"${@:2}\" >\"$1\"; echo $?", file("out"),
      attributes.flatMap { [$0.key, $0.value] })
    try #require(lines == ["0"], "\(lines)")
  }

  /// Runs a script, again where it fails and KWallet may have refused its key, which it does with
  /// one of 256.
  private func secretTool(
    _ script: String, _ file: URL, _ arguments: [String]
  ) throws -> [String] {
    var lines: [String] = []
    for _ in 0..<(Desktop.sharedService == "kwallet" ? 3 : 1) where lines.last != "0" {
      lines = try Child.run(
        ["bash", "-c", script, "-", file.path] + arguments, environment: environment)
    }
    return lines
  }

  // MARK: - Python

  /// Carries out a command for each line; the interpreter takes longer to begin than all of its
  /// work.
  private static let program = """
    import sys, json

    # gnome-keyring 42 may abort when a program that has no session yet asks for a property.
    import keyring, secretstorage, secretstorage.collection, secretstorage.item
    from secretstorage.util import open_session as open_once
    def open_session(bus, times=5):
        try:
            return open_once(bus)
        except Exception:  # KWallet refuses one key of 256
            if times == 0:
                raise
            return open_session(bus, times - 1)
    for module in (secretstorage.collection, secretstorage.item):
        module.open_session = open_session
    without_session = secretstorage.get_default_collection
    secretstorage.get_default_collection = lambda bus: without_session(bus, open_session(bus))

    def run(command, path, arguments):
        data = open(path, "rb").read()
        if command.startswith("item"):
            bus = secretstorage.dbus_init()
            collection = secretstorage.get_default_collection(bus)
            if command == "item-store":
                collection.create_item(
                    arguments[0], json.loads(arguments[1]), data, replace=True,
                    content_type=arguments[2])
            else:
                found = list(collection.search_items(json.loads(arguments[0])))
                items = [
                    [i.get_label(), i.get_attributes(), i.get_secret().hex(),
                     i.get_secret_content_type()] for i in found]
                open(path, "w").write(json.dumps(items))
            bus.close()
        elif command == "set":
            keyring.set_password(arguments[0], arguments[1], data.decode())
        elif command == "get":
            open(path, "w").write(json.dumps(keyring.get_password(arguments[0], arguments[1])))
        else:
            keyring.delete_password(arguments[0], arguments[1])

    for line in sys.stdin:
        command, path, *rest = line.rstrip("\\n").split(" ")
        try:
            run(command, path, [bytes.fromhex(each).decode() for each in rest])
            print("done", flush=True)
        except Exception as error:
            print(ascii(error), flush=True)
    """

  private func python(_ command: String, _ arguments: [String], _ input: [UInt8] = []) throws
    -> Data
  {
    try Data(input).write(to: file("python"))
    let interpreter =
      try interpreter
      ?? Child(["/usr/bin/python3", "-c", Self.program], environment: environment)
    self.interpreter = interpreter
    let words = [command, file("python").path] + arguments.map { Array($0.utf8).hex }
    let answer = try interpreter.ask(words.joined(separator: " "))
    try #require(answer == "done")
    return try Data(contentsOf: file("python"))
  }

  private func json(_ attributes: [String: String]) throws -> String {
    String(decoding: try JSONEncoder().encode(attributes), as: UTF8.self)
  }

  /// SecretStorage's `create_item`.
  func createItem(
    _ secret: [UInt8], label: String = "a label", _ attributes: [String: String],
    contentType: String = "text/plain"
  ) throws {
    _ = try python("item-store", [label, try json(attributes), contentType], secret)
  }

  /// An item as SecretStorage sees it.
  struct Item: Hashable {
    let label: String
    let attributes: [String: String]
    let secret: [UInt8]
    /// As the service gives it, which may not be as it was given.
    var contentType: String?
  }

  /// The attributes without those that KeePassXC gives to each item.
  static func own(_ attributes: [String: String]) -> [String: String] {
    guard Desktop.sharedService == "keepassxc" else { return attributes }
    let added = ["Title", "Path", "Uuid", "UserName", "URL", "Notes", "FDO_SECRETS_CONTENT_TYPE"]
    return attributes.filter { !added.contains($0.key) }
  }

  /// SecretStorage's `search_items`.
  func items(
    _ attributes: [String: String], withContentTypes: Bool = false
  ) throws -> [Item] {
    let data = try python("item-search", [try json(attributes)])
    let found = try #require(try JSONSerialization.jsonObject(with: data) as? [[Any]])
    return try found.map { each in
      Item(
        label: try #require(each[0] as? String),
        attributes: Self.own(try #require(each[1] as? [String: String])),
        secret: [UInt8](hex: try #require(each[2] as? String)),
        contentType: withContentTypes ? try #require(each[3] as? String) : nil)
    }
  }

  /// Python's `keyring.set_password`.
  func setPassword(_ service: String, _ username: String, _ password: String) throws {
    _ = try python("set", [service, username], Array(password.utf8))
  }

  /// Python's `keyring.get_password`.
  func password(_ service: String, _ username: String) throws -> String? {
    let data = try python("get", [service, username])
    return try JSONDecoder().decode(String?.self, from: data)
  }
}

/// Text with whatever a name or a secret may have in it.
enum Odd {
  static let texts = [
    "", " ", "plain", "two words", "Käse 🧀 e\u{301} \u{1F469}\u{200D}\u{1F469}\u{200D}\u{1F467}",
    "'\"\\$(true)`;|&<>*?[]{}~#!%", "line\nline\r\n\ttab", "--flag", "-", "=", "a=b,c",
    "\u{1}\u{7f}",
    "{REF:T@I:0}", String(repeating: "long ", count: 400),
  ]

  /// Those that the service keeps: KeePassXC refuses its own references.
  static let kept = texts.filter {
    Desktop.sharedService != "keepassxc" || !$0.contains("{REF:")
  }
}

extension Desktop {
  /// A plain keyring of this desktop's default collection.
  func keyring(
    _ service: String = freshService(), group: String? = nil,
    accessibility: Accessibility = .whenUnlocked, authentication: Keyring.Authentication = [],
    access: KeyringAccess = .patient, deviceKey: UInt8 = 1, passcode: String? = nil,
    client: KeyringClient? = nil
  ) -> Keyring {
    var ask: (@Sendable () throws -> SecureBytes?)?
    if let passcode { ask = { try SecureBytes(Array(passcode.utf8)) } }
    return Keyring(
      service: service, group: group, accessibility: accessibility,
      authentication: authentication, access: access, client: client ?? self.client,
      deviceKey: { .key(SymmetricKey(data: [UInt8](repeating: deviceKey, count: 32))) },
      derivation: PassphraseDerivation.scrypt(cost: 16, blockSize: 8, parallelism: 1).withoutFloor,
      passcode: ask)
  }
}
