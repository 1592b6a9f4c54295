import Foundation
import TestSupport
import Testing

@testable import LocalData
@testable import StorageCore

/// Gives the same material to all keys.
struct FixedProvider: KeyMaterialProviding {
  static let source = KeyMaterialSource(id: "p")
  static let policy = SecurityPolicy.encrypted(.external(source: source))
  var material = Data(repeating: 0x44, count: 32)

  func keyMaterial(for keyName: String) async throws -> Data { material }
}

/// Two places of one kind, as domains of a test folder.
struct Twins: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let one: @Sendable (URL) -> StorageDomain
  let two: @Sendable (URL) -> StorageDomain

  init(
    _ title: String, _ one: @escaping @Sendable (URL) -> StorageDomain,
    _ two: @escaping @Sendable (URL) -> StorageDomain
  ) {
    (testDescription, self.one, self.two) = (title, one, two)
  }

  private static func custom(_ folder: URL, _ name: String) -> FileDirectory {
    .custom(folder.appendingPathComponent(name, isDirectory: true))
  }

  static let all: [Twins] = [
    Twins(
      "custom folders", { .fileSystem(directory: custom($0, "a")) },
      { .fileSystem(directory: custom($0, "b")) }),
    Twins(
      "documents and caches", { _ in .fileSystem(directory: .documents) },
      { _ in .fileSystem(directory: .caches) }),
    Twins(
      "a custom folder and documents", { .fileSystem(directory: custom($0, "a")) },
      { _ in .fileSystem(directory: .documents) }),
    Twins(
      "documents and a custom folder", { _ in .fileSystem(directory: .documents) },
      { .fileSystem(directory: custom($0, "a")) }),
    Twins(
      "sealed custom folders", { .encryptedFileSystem(directory: custom($0, "a")) },
      { .encryptedFileSystem(directory: custom($0, "b")) }),
    Twins(
      "sealed documents and caches", { _ in .encryptedFileSystem(directory: .documents) },
      { _ in .encryptedFileSystem(directory: .caches) }),
    Twins(
      "files of two groups", { _ in .appGroupFileSystem(id: "group.a", directory: .documents) },
      { _ in .appGroupFileSystem(id: "group.b", directory: .documents) }),
    Twins(
      "documents and caches of a group",
      { _ in .appGroupFileSystem(id: "group.a", directory: .documents) },
      { _ in .appGroupFileSystem(id: "group.a", directory: .caches) }),
    Twins(
      "settings of two groups", { _ in .appGroupUserDefaults(identifier: "group.a") },
      { _ in .appGroupUserDefaults(identifier: "group.b") }),
    Twins(
      "settings of the default group and another",
      { _ in .appGroupUserDefaults(identifier: nil) },
      { _ in .appGroupUserDefaults(identifier: "group.b") }),
    Twins(
      "two suites", { _ in .userDefaults(suite: "a") }, { _ in .userDefaults(suite: "b") }),
    Twins(
      "two services", { _ in .keychain(service: "a") }, { _ in .keychain(service: "b") }),
  ]
}

@Suite struct BoundPlaceTests {
  private let folder = TestFolder()

  private func router(hasFloor: Bool = false) async -> StorageRouter {
    let router = folder.router(
      configuration: StorageConfiguration(
        defaultAppGroupIdentifier: "group.default", keychain: .vault),
      hasFloor: hasFloor)
    await router.registerKeyMaterialProvider(FixedProvider(), for: FixedProvider.source)
    return router
  }

  private func address(_ key: StoredKey<String>, _ router: StorageRouter) throws -> PlaceAddress {
    try router.core.resolve(key, router.core.state.withLock { $0 }).address
  }

  /// Copies what a thief can copy: the bytes of a value, or the file that holds them.
  private func steal(
    _ one: StoredKey<String>, _ two: StoredKey<String>, _ router: StorageRouter
  ) throws {
    let (from, to) = (try address(one, router), try address(two, router))
    let places = router.core.places
    switch from.kind {
    case .file, .plainSuite:
      let bytes = try #require(try places.place(at: from).read())
      try places.place(at: to).write(bytes)
    case .sealedSuite:
      try replace(try #require(try places.path(of: to)), by: #require(try places.path(of: from)))
    case .sealedFolder:
      try replace(to.container, by: from.container)
      // Reads of this process notice it from 10 ms later on: docs/durability.md.
      usleep(30_000)
    case .vault, .keyring, .deviceKeyring:
      let (storage, name) = try #require(try places.record(of: from))
      let (_, other) = try #require(try places.record(of: to))
      let (store, delegate) = (storage.store, storage.store.place)
      let open = try #require(try store.keys.forReading())
      let hash = try store.name(StoreKey(name)).context(in: open).name
      let record = try #require(try delegate.record(for: hash))
      try delegate.set(record, for: try store.name(StoreKey(other)).context(in: open).name)
    }
  }

  private func replace(_ target: String, by source: String) throws {
    try FileManager.default.removeItem(atPath: target)
    try FileManager.default.copyItem(atPath: source, toPath: target)
  }

  @Test(arguments: Twins.all, [SecurityPolicy.recommended, FixedProvider.policy])
  func aSealedValueOfOnePlaceIsNotTheValueOfAnother(
    _ twins: Twins, _ policy: SecurityPolicy
  ) async throws {
    let one = key("role", twins.one(folder.url), policy)
    let two = key("role", twins.two(folder.url), policy)
    let router = await self.router()
    try await router.set("admin", for: one)
    try await router.set("user", for: two)
    #expect(try await self.router().get(one) == "admin")
    #expect(try await self.router().get(two) == "user")
    try steal(one, two, router)
    let found = await code { _ = try await self.router().get(two) }
    // Each group has a key of its own, so its programs see another key before they see another
    // place.
    let isOfGroups = twins.testDescription.contains("group") && policy == .recommended
    #expect(found == .damaged || (isOfGroups && found == .wrongKey), "\(found as Any)")
    #expect(try await self.router().get(one) == "admin")
  }

  private var a: URL { folder.url.appendingPathComponent("a", isDirectory: true) }
  private var b: URL { folder.url.appendingPathComponent("b", isDirectory: true) }
  private func inFolder(_ url: URL, _ name: String = "role") -> StoredKey<String> {
    key(name, .fileSystem(directory: .custom(url)))
  }

  @Test func aSwappedIdMovesNoValue() async throws {
    let router = await self.router()
    try await router.set("admin", for: inFolder(a))
    try await router.set("user", for: inFolder(b))
    for file in ["role", FolderIDs.file] {
      try replace(b.appendingPathComponent(file).path, by: a.appendingPathComponent(file).path)
    }
    #expect(await code { _ = try await self.router().get(inFolder(b)) } == .damaged)
    // What the folder has written since is its own, whatever the file says.
    try await self.router().set("user2", for: inFolder(b))
    #expect(try await self.router().get(inFolder(b)) == "user2")
    try FileManager.default.removeItem(at: b.appendingPathComponent(FolderIDs.file))
    try await self.router().set("user3", for: inFolder(b))
    #expect(try await self.router().get(inFolder(b)) == "user3")
    #expect(FileManager.default.fileExists(atPath: b.appendingPathComponent(FolderIDs.file).path))
  }

  @Test(arguments: [true, false])
  func aFolderThatWasMovedOpensOnceTheProgramSaysSo(_ isSealed: Bool) async throws {
    func inFolder(_ url: URL) -> StoredKey<String> {
      key(
        "role",
        isSealed
          ? .encryptedFileSystem(directory: .custom(url)) : .fileSystem(directory: .custom(url)))
    }
    try await router().set("admin", for: inFolder(a))
    #expect(await code { try await router().adoptFolder(at: b) } == .unavailable)
    try FileManager.default.moveItem(at: a, to: b)
    #expect(await code { _ = try await router().get(inFolder(b)) } == .configurationConflict)
    #expect(
      await code { try await router().set("x", for: inFolder(b)) } == .configurationConflict)
    let next = await self.router()
    try await next.adoptFolder(at: b)
    #expect(try await next.get(inFolder(b)) == "admin")
    try await next.set("user", for: inFolder(b))
    // The former place begins anew.
    try await next.set("other", for: inFolder(a))
    #expect(try await self.router().get(inFolder(a)) == "other")
    #expect(try await self.router().get(inFolder(b)) == "user")
    try steal(inFolder(a), inFolder(b), next)
    #expect(await code { _ = try await self.router().get(inFolder(b)) } == .damaged)
  }

  @Test func anotherProgramWithTheMaterialReadsTheFolder() async throws {
    let shared = key("role", .fileSystem(directory: .custom(a)), FixedProvider.policy)
    let other = folder.router("com.example.other")
    await other.registerKeyMaterialProvider(FixedProvider(), for: FixedProvider.source)
    try await router().set("admin", for: shared)
    #expect(try await other.get(shared) == "admin")
    try await other.set("user", for: shared)
    #expect(try await router().get(shared) == "user")
  }

  @Test func aLedgerThatWasLostTakesTheIdOfTheFolder() async throws {
    try await router().set("admin", for: inFolder(a))
    for file in folder.files() where file.contains("localdata.vault") {
      try FileManager.default.removeItem(at: folder.url.appendingPathComponent(file))
    }
    #expect(try await router().get(inFolder(a)) == "admin")
    try await router().set("user", for: inFolder(a))
    #expect(try await router().get(inFolder(a)) == "user")
  }

  @Test func anIdThatIsNoneIsDamaged() async throws {
    try await router().set("admin", for: inFolder(a))
    let id = a.appendingPathComponent(FolderIDs.file)
    let text = try String(contentsOf: id, encoding: .utf8)
    for wrong in ["", "x", text.uppercased() + "A", String(text.dropLast()), text + "\n"] {
      try Data(wrong.utf8).write(to: b.deletingLastPathComponent().appendingPathComponent("id"))
      try? FileManager.default.removeItem(at: b)
      try FileManager.default.createDirectory(
        at: b, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
      try Data(wrong.utf8).write(to: b.appendingPathComponent(FolderIDs.file))
      #expect(await code { try await router().set("x", for: inFolder(b)) } == .damaged)
    }
    #expect(text.utf8.count == 33)
  }

  /// An example of docs/localdata.md, made by another implementation.
  private func open(
    _ example: String, droppingFirst head: Int = 0, _ form: Serializer.Form, _ material: UInt8,
    _ domain: [String], _ name: String, _ id: [UInt8]?
  ) throws -> [UInt8] {
    let bytes = Data(try FormatDocument("localdata.md").bytes(example).dropFirst(head))
    let place = id.map { id in BoundPlace(id: { (_) throws(StorageError) in id }, advice: "") }
    let material = try SecureBytes([UInt8](repeating: material, count: 32))
    let sealer = ValueSealer(nil, form, binding: ValueBinding(domain, name, place))
    return Array(try sealer.open(Envelope(reading: bytes), [material]))
  }

  @Test func theDocumentsExamplesOpenInTheirPlaceAlone() throws {
    let bytes = Data(try FormatDocument("localdata.md").bytes("bound-value"))
    func open(_ id: [UInt8], _ name: String = "role") throws -> [UInt8] {
      try self.open("bound-value", .json, 0x42, ["fileSystem custom"], name, id)
    }
    #expect(try open(Array(0x10..<0x20)) == Array("\"admin\"".utf8))
    #expect(
      try self.open(
        "shared-entry", droppingFirst: 6, .json, 3, ["sync", "userDefaults"], "role",
        Array(0x20..<0x30)) == [0, 1, 0, 0, 0, 0, 0, 0, 0, 7] + Array("\"admin\"".utf8))
    #expect(
      try self.open("group-rotation", .data, 0x43, ["group rotation"], "", nil)
        == [UInt8](repeating: 0x42, count: 32) + Array("{\"digests\":{}}".utf8))
    let others: [(id: [UInt8], name: String)] = [
      (Array(0x11..<0x21), "role"), ([], "role"), (Array(0x10..<0x20), "rule"),
    ]
    for other in others {
      #expect(throws: StorageError.self) { try open(other.id, other.name) }
    }
    for version in [0, 2, 255] as [UInt8] {
      var other = bytes
      other[4] = version
      let error = #expect(throws: StorageError.self) { try Envelope(reading: other) }
      #expect(error?.code == .unsupported && error?.message.contains("version \(version)") == true)
    }
  }

  @Test func theAuditOpensWhatIsBoundAndSaysWhatIsNot() async throws {
    struct Keys {
      let one: StoredKey<String>
      let two: StoredKey<String>
    }
    let keys = Keys(one: inFolder(a), two: inFolder(b))
    let router = await self.router()
    try router.registerKeys(keys)
    try await router.set("admin", for: keys.one)
    try await router.set("user", for: keys.two)
    #expect(try await router.audit().findings.isEmpty)
    try steal(keys.one, keys.two, router)
    let findings = try await router.audit().findings
    #expect(findings.map(\.kind) == [.damaged] && findings[0].place.hasSuffix("/b"))
  }
}
