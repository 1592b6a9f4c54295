// Declarations that the compiler refuses with a message that says what to write instead. None of
// these can be called. Other packages have a type Keychain whose objects and static calls are the
// Keychain of Apple's platforms; here Keychain is a property wrapper.

public import StorageCore

extension Store where StorageType == KeychainStorage, Value == Never {
  /// Not available: `Keychain` is a property wrapper.
  @available(
    *, unavailable,
    message: """
      Keychain is a property wrapper here: write Keyring(service:) for plain items that other \
      programs can read, KeychainStorage(service:) for sealed values, or @Keychain("name") on a \
      property. See docs/keyring-migration.md
      """
  )
  public init(
    service: String? = nil, group: String? = nil, accessibility: Accessibility? = nil,
    authentication: Keyring.Authentication? = nil, isSynchronizable: Bool = false
  ) { refusedByTheCompiler() }

  /// Not available: `Keychain` is a property wrapper.
  @available(*, unavailable, message: "Keychain is a property wrapper here: write Keyring.default")
  public static var `default`: Keyring {
    get { refusedByTheCompiler() }
    set { refusedByTheCompiler() }
  }

  /// Not available: `Keychain` is a property wrapper.
  @available(
    *, unavailable,
    message: "Keychain is a property wrapper here: write Keyring(service:).container(for:)"
  )
  public func container(for account: String) -> Keyring.Container { refusedByTheCompiler() }

  /// Not available: `Keychain` is a property wrapper.
  @available(
    *, unavailable,
    message: "write Keyring.search(for: [.service(\"github.token\")], with: .matchAll)"
  )
  public static func search(for attributes: Any, with options: Any) -> [KeyringItem] {
    refusedByTheCompiler()
  }

  /// Not available: `Keychain` is a property wrapper.
  @available(*, unavailable, message: "write Keyring.read([\"service\": \"github.token\"])")
  public static func read(_ query: Any, options: Any) -> KeyringItem? { refusedByTheCompiler() }

  /// Not available: `Keychain` is a property wrapper.
  @available(
    *, unavailable,
    message: "write Keyring.update([.account(\"me\")], using: [\"service\": \"github.token\"])"
  )
  public static func update(_ attributes: Any, using query: Any) { refusedByTheCompiler() }

  /// Not available: `Keychain` is a property wrapper.
  @available(*, unavailable, message: "write Keyring.modify([.account(\"me\")], for: query)")
  public static func modify(_ attributes: Any, for query: Any) { refusedByTheCompiler() }

  /// Not available: `Keychain` is a property wrapper.
  @available(*, unavailable, message: "write Keyring.remove(query)")
  public static func remove(_ query: Any) { refusedByTheCompiler() }

  /// Not available: `Keychain` is a property wrapper.
  @available(*, unavailable, message: "write Keyring.delete([\"service\": \"github.token\"])")
  public static func delete(_ query: Any) { refusedByTheCompiler() }
}

/// Not available: queries name the attributes of the Secret Service.
@available(
  *, unavailable, message: "write [String: String], such as [\"service\": \"github.token\"]"
)
public typealias KeychainQuery = [String: String]

/// Not available: the attributes are those of the Secret Service.
@available(*, unavailable, renamed: "KeyringAttributes")
public typealias KeychainAttributes = KeyringAttributes

/// Not available: the attributes are those of the Secret Service.
@available(*, unavailable, renamed: "KeyringAttribute")
public typealias KeychainAttribute = KeyringAttribute

/// Not available: the options are those of the Secret Service.
@available(*, unavailable, renamed: "KeyringOptions")
public typealias KeychainOptions = KeyringOptions

/// Not available: the options are those of the Secret Service.
@available(*, unavailable, renamed: "KeyringOption")
public typealias KeychainOption = KeyringOption

/// Not available: an item is a type with properties.
@available(*, unavailable, renamed: "KeyringItem")
public typealias KeychainItem = KeyringItem

/// Not available: the protocol has the name of the keyring.
@available(*, unavailable, renamed: "KeyringQueryable")
public typealias KeychainQueryable = KeyringQueryable
