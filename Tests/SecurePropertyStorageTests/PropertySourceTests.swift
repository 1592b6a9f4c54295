import CryptoCore
import FileBackend
import Foundation
import KeyringBackend
import KeyringTesting
import LocalData
import StorageCore
import StorageTesting
import TestSupport
import Testing

/// What each family of wrappers does with an assignment after a failed read.
@Suite struct PropertySourceTests {
  @Test(arguments: Family.allCases, FailedReadsTests.passing)
  func aPassingErrorRefusesTheNextAssignment(
    _ family: Family, _ code: StorageError.Code
  ) throws {
    let property = try family.property()
    try property.save(41)
    property.failedRead.remember(StorageError(code, "on cue"), gaveDefault: true)
    property.assign(1)
    #expect(try property.load() == 41)
    property.failedRead.remember(StorageError(code, "on cue"), gaveDefault: true)
    property.assign(1)
    property.assign(2)
    #expect(try property.load() == 2)
  }

  @Test(arguments: Family.allCases, [StorageError.Code.damaged, .locked, .typeMismatch, .io])
  func anyOtherErrorRefusesUntilAReadSucceeds(
    _ family: Family, _ code: StorageError.Code
  ) throws {
    let property = try family.property()
    try property.save(41)
    property.failedRead.remember(StorageError(code, "on cue"), gaveDefault: true)
    property.failedRead.remember(StorageError(.busy, "on cue"), gaveDefault: true)
    for value in 1...3 { property.assign(value) }
    #expect(try property.load() == 41)
    property.assign(4)
    #expect(try property.load() == 4)
  }

  @Test(arguments: Family.allCases) func savingOnPurposeReplaces(_ family: Family) throws {
    let property = try family.property()
    try property.plantText()
    #expect(property.read() == 0)
    property.assign(1)
    #expect(throws: StorageError.self) { try property.load() }
    property.assign(1)
    #expect(throws: StorageError.self) { try property.load() }
    try property.save(5)
    #expect(property.read() == 5)
    property.assign(6)
    #expect(try property.load() == 6)
  }

  @Test(arguments: Family.allCases) func removingOnPurposeAllowsAssignment(
    _ family: Family
  ) throws {
    let property = try family.property()
    try property.plantText()
    #expect(property.read() == 0)
    try property.remove()
    property.assign(7)
    #expect(try property.load() == 7)
  }

  @Test(arguments: Family.allCases) func aValueThatIsGoneCanBeAssigned(_ family: Family) throws {
    let property = try family.property()
    property.failedRead.remember(StorageError(.damaged, "on cue"), gaveDefault: true)
    property.assign(8)
    #expect(try property.load() == 8)
  }

  @Test(arguments: Family.allCases) func whoGotThePassingErrorUsedNoDefault(
    _ family: Family
  ) throws {
    let property = try family.property()
    try property.save(41)
    property.failedRead.remember(StorageError(.busy, "on cue"))
    property.assign(9)
    #expect(try property.load() == 9)
  }
}

/// A wrapper of numbers, whose default is 0.
struct NumberProperty {
  let failedRead: FailedRead
  let read: () -> Int
  let assign: (Int) -> Void
  let load: () throws -> Int
  let save: (Int) throws -> Void
  let remove: () throws -> Void
  /// Stores a text under the name.
  let plantText: () throws -> Void
  /// What the place needs as long as the property is in use.
  var place: AnyObject?

  func `in`(_ place: AnyObject) -> NumberProperty {
    var property = self
    property.place = place
    return property
  }
}

/// A folder for one test, removed with it.
private final class TestFolder {
  let url = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
  private let source = KeySource.key(SymmetricKey(size: .bits256))

  init() throws {
    try FileManager.default.createDirectory(
      at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  var folder: SealedFolder {
    SealedFolder(
      at: url.appendingPathComponent("files"), keySource: source, deadline: .seconds(60)
    ) { _ in }
  }

  var router: StorageRouter {
    StorageRouter(
      applicationID: "com.example.app", keySource: source, folder: url,
      configuration: StorageConfiguration(keychain: .vault))
  }
}

/// A family of wrappers.
enum Family: String, CaseIterable, Sendable {
  case store, unwrappedStore, codableStore, unwrappedCodableStore
  case sealedFile, codableSealedFile, unwrappedSealedFile, unwrappedCodableSealedFile
  case stored, unwrappedStored
  #if Keyring
    case secureCredentials, internetCredentials, secureItem
  #endif

  func property() throws -> NumberProperty {
    switch self {
    case .store, .unwrappedStore, .codableStore, .unwrappedCodableStore: return ofStorage()
    case .sealedFile, .codableSealedFile, .unwrappedSealedFile, .unwrappedCodableSealedFile:
      let place = try TestFolder()
      return ofFolder(place.folder).in(place)
    case .stored, .unwrappedStored:
      let place = try TestFolder()
      return ofRouter(place.router).in(place)
    #if Keyring
      case .secureCredentials, .internetCredentials, .secureItem:
        let bus = try PrivateBus()
        return ofKeyring(bus.address).in(try FakeSecretService(on: bus))
    #endif
    }
  }

  private func ofStorage() -> NumberProperty {
    let storage = FaultyStorage(errorClosure: { _ in })
    let plant = { try storage.save("text", forKey: "n") }
    switch self {
    case .store:
      let wrapper = Store<Int, FaultyStorage>(storage, "n")
      return optional(wrapper, { wrapper.wrappedValue }, { wrapper.wrappedValue = $0 }, plant)
    case .codableStore:
      let wrapper = CodableStore<Int, FaultyStorage>(storage, "n")
      return optional(wrapper, { wrapper.wrappedValue }, { wrapper.wrappedValue = $0 }, plant)
    case .unwrappedStore:
      let wrapper = UnwrappedStore(wrappedValue: 0, storage, "n")
      return defaulted(wrapper, { wrapper.wrappedValue }, { wrapper.wrappedValue = $0 }, plant)
    default:
      let wrapper = UnwrappedCodableStore(wrappedValue: 0, storage, "n")
      return defaulted(wrapper, { wrapper.wrappedValue }, { wrapper.wrappedValue = $0 }, plant)
    }
  }

  private func ofFolder(_ folder: SealedFolder) -> NumberProperty {
    let plant = { try folder.write(Data("text".utf8), named: "n") }
    switch self {
    case .sealedFile:
      let wrapper = SealedFile<Int>(folder, "n", coding: .codable(.json))
      return optional(wrapper, { wrapper.wrappedValue }, { wrapper.wrappedValue = $0 }, plant)
    case .codableSealedFile:
      let wrapper = CodableSealedFile<Int>("n", in: folder)
      return optional(wrapper, { wrapper.wrappedValue }, { wrapper.wrappedValue = $0 }, plant)
    case .unwrappedSealedFile:
      let wrapper = UnwrappedSealedFile(
        wrappedValue: 0, folder, "n", coding: .codable(.json))
      return defaulted(wrapper, { wrapper.wrappedValue }, { wrapper.wrappedValue = $0 }, plant)
    default:
      let wrapper = UnwrappedCodableSealedFile(wrappedValue: 0, "n", in: folder)
      return defaulted(wrapper, { wrapper.wrappedValue }, { wrapper.wrappedValue = $0 }, plant)
    }
  }

  private func ofRouter(_ router: StorageRouter) -> NumberProperty {
    func key<Value: Codable & Sendable>(_ type: Value.Type) -> StoredKey<Value> {
      StoredKey(
        "n", in: .userDefaults, security: .none, serializer: .json, owner: "Tests",
        description: "A value of a test.")
    }
    let text = Stored(key(String.self), router: router)
    let plant = { try text.save("text") }
    if self == .stored {
      let wrapper = Stored(key(Int.self), router: router)
      return optional(wrapper, { wrapper.wrappedValue }, { wrapper.wrappedValue = $0 }, plant)
    }
    let wrapper = UnwrappedStored(wrappedValue: 0, key(Int.self), router: router)
    return defaulted(wrapper, { wrapper.wrappedValue }, { wrapper.wrappedValue = $0 }, plant)
  }

  #if Keyring
    private func ofKeyring(_ bus: String) -> NumberProperty {
      let access = KeyringAccess(
        deadline: .seconds(60), prompts: .never, bus: bus, allowsPlainKeys: true)
      let host = "example.com"
      switch self {
      case .secureCredentials:
        let wrapper = SecureCredentials<Int>(service: "s", access: access) { _ in }
        let text = SecureCredentials<String>(service: "s", access: access)
        return optional(
          wrapper.projectedValue, { wrapper.wrappedValue }, { wrapper.wrappedValue = $0 },
          { try text.projectedValue.save("text") })
      case .internetCredentials:
        let wrapper = InternetCredentials<Int>(server: host, access: access) { _ in }
        let text = InternetCredentials<String>(server: host, access: access)
        return optional(
          wrapper.projectedValue, { wrapper.wrappedValue }, { wrapper.wrappedValue = $0 },
          { try text.projectedValue.save("text") })
      default:
        let wrapper = SecureItem<Int>(name: "n", access: access) { _ in }
        let text = SecureItem<String>(name: "n", access: access)
        return optional(
          wrapper.projectedValue, { wrapper.wrappedValue }, { wrapper.wrappedValue = $0 },
          { try text.projectedValue.save("text") })
      }
    }
  #endif

  private func optional(
    _ property: some OptionalStoredProperty<Int>, _ read: @escaping () -> Int?,
    _ assign: @escaping (Int) -> Void, _ plantText: @escaping () throws -> Void
  ) -> NumberProperty {
    NumberProperty(
      failedRead: property.core.failedRead, read: { read() ?? 0 }, assign: assign,
      load: { try property.load() ?? 0 }, save: { try property.save($0) },
      remove: { try property.remove() }, plantText: plantText)
  }

  private func defaulted(
    _ property: some DefaultedStoredProperty<Int>, _ read: @escaping () -> Int,
    _ assign: @escaping (Int) -> Void, _ plantText: @escaping () throws -> Void
  ) -> NumberProperty {
    NumberProperty(
      failedRead: property.core.failedRead, read: read, assign: assign,
      load: { try property.load() }, save: { try property.save($0) },
      remove: { try property.remove() }, plantText: plantText)
  }
}
