import FileBackend
import Foundation
import StorageCore
import TestSupport
import Testing

@testable import LocalData

/// What an earlier release stored stays readable, and can't be planted once there is a newer form.
@Suite struct OldFormTests {
  private let folder = TestFolder()
  private let weak = KeyMaterialSource(id: "weak")

  private func router() async throws -> StorageRouter {
    let master = VaultFiles.master(in: folder)
    try master.saveIfAbsent(Data(repeating: 0x42, count: 32), forKey: VaultFiles.masterName)
    let router = folder.router(hasFloor: true)
    await router.registerKeyMaterialProvider(FixedProvider(), for: FixedProvider.source)
    await router.registerKeyMaterialProvider(FixedProvider(material: Data([0x45])), for: weak)
    await router.registerPasscode { try SecureBytes([0x31]) }
    return router
  }

  /// Stores bytes as the earlier release did: first the ledger's entry, then the value.
  private func plant(
    _ bytes: Data, _ key: StoredKey<String>, isRecorded: Bool = true
  ) async throws {
    let router = try await router()
    let resolution = try router.core.resolve(key, router.core.state.withLock { $0 })
    if isRecorded { try router.core.ledger.record(resolution.entry, key.domain) }
    try router.core.places.place(at: resolution.address).write(bytes)
  }

  private func plantGroupKey() throws {
    let group = folder.url.appendingPathComponent("groups/group.test")
    try FileManager.default.createDirectory(
      at: group, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    let text = Data(repeating: 0x43, count: 32).base64EncodedString() + "\n"
    try Data(text.utf8).write(to: group.appendingPathComponent(GroupKey.file))
  }

  private func custom(_ name: String) -> FileDirectory {
    .custom(folder.url.appendingPathComponent(name, isDirectory: true))
  }

  private var old: [(bytes: Data, key: StoredKey<String>)] {
    [
      (OldForm.custom, key("role", .fileSystem(directory: custom("a")))),
      (OldForm.sealedCustom, key("role", .encryptedFileSystem(directory: custom("a")))),
      (OldForm.group, key("role", .appGroupFileSystem(id: "group.test", directory: .documents))),
      (
        OldForm.groupSuite,
        key("role", .appGroupUserDefaults(identifier: "group.test"), FixedProvider.policy)
      ),
    ]
  }

  @Test(arguments: 0..<4)
  func anOldValueOpensUntilItIsStoredAgain(_ index: Int) async throws {
    try plantGroupKey()
    let (bytes, key) = old[index]
    try await plant(bytes, key)
    #expect(try await router().get(key) == "admin")
    try await router().set("user", for: key)
    #expect(try await router().get(key) == "user")
    // The old bytes are kept by a thief, who puts them back.
    try await plant(bytes, key)
    #expect(await code { _ = try await router().get(key) } == .damaged)
    #expect(await code { try await router().update(key) { $0 = "x" } } == .damaged)
    try await router().set("user", for: key)
    #expect(try await router().get(key) == "user")
  }

  @Test func theDocumentsExampleOpensInItsFolderAlone() throws {
    // Made by another implementation: docs/localdata.md, "The form of a sealed value".
    let bytes = Data(try FormatDocument("localdata.md").bytes("bound-value"))
    let master = try SecureBytes([UInt8](repeating: 0x42, count: 32))
    func open(_ id: [UInt8], _ name: String = "role") throws(StorageError) -> Data {
      let place = BoundPlace(
        id: { (_) throws(StorageError) in id }, requireOldForm: { () throws(StorageError) in },
        advice: "")
      let binding = ValueBinding(["fileSystem custom"], name, place)
      return try ValueSealer(nil, .json, binding: binding).open(Envelope(reading: bytes), [master])
    }
    #expect(try open(Array(0x10..<0x20)) == Data("\"admin\"".utf8))
    let others: [(id: [UInt8], name: String)] = [
      (Array(0x11..<0x21), "role"), ([], "role"), (Array(0x10..<0x20), "rule"),
    ]
    for other in others {
      #expect(throws: StorageError.self) { try open(other.id, other.name) }
    }
    // The place's own seal can't be bound, so there is no such form.
    #expect(throws: StorageError.self) {
      try Envelope(reading: Data("SPLD".utf8) + [2, 1, 0, 0x31])
    }
  }

  @Test func anOldValueOfAnotherFolderIsNotTaken() async throws {
    let other = key("role", .fileSystem(directory: custom("b")))
    try await plant(OldForm.custom, other, isRecorded: false)
    #expect(await code { _ = try await router().get(other) } == .damaged)
    // A folder that was moved has such values, and the program says so.
    try await router().adoptFolder(at: folder.url.appendingPathComponent("b"))
    #expect(try await router().get(other) == "admin")
    try await router().set("user", for: other)
    try await plant(OldForm.custom, other)
    #expect(await code { _ = try await router().get(other) } == .damaged)
  }

  private var weakOnes: [(bytes: Data, key: StoredKey<String>)] {
    let documents = StorageDomain.fileSystem(directory: .documents)
    return [
      (
        OldForm.oneRound,
        key("role", documents, .encrypted(.aes256(keyDerivation: .pbkdf2(iterations: 1))))
      ),
      (OldForm.weakProvider, key("role", documents, .encrypted(.external(source: weak)))),
      (
        OldForm.weakRounds,
        key(
          "role", documents,
          .encrypted(.external(source: weak, keyDerivation: .pbkdf2(iterations: 1))))
      ),
      (
        OldForm.passcode,
        key(
          "role", .keychain(service: "s"),
          .keychain(accessibility: .afterFirstUnlock, accessControl: .devicePasscode))
      ),
    ]
  }

  @Test(arguments: 0..<4)
  func aWeakOldValueOpensAndIsNotStoredAgainAsWeak(_ index: Int) async throws {
    let (bytes, key) = weakOnes[index]
    try await plant(bytes, key)
    let router = try await router()
    #expect(try await router.get(key) == "admin")
    #expect(await code { try await router.set("user", for: key) } == .invalid)
    #expect(await code { try await router.update(key) { $0 = "user" } } == .invalid)
    #expect(try await router.get(key) == "admin")
    try await router.remove(key)
    #expect(await code { try await router.set("user", for: key) } == .invalid)
    #expect(try await router.get(key) == nil)
  }

  @Test func anOldSharedEntryOpensUntilItIsSentAgain() async throws {
    let key = StoredKey<String>(
      "role", in: .userDefaults, owner: "Tests", description: "A value.", syncPolicy: .manual)
    let transport = MemorySyncTransport()
    let name = "localdata:userDefaults/role"
    transport.plant(OldForm.shared, name)
    let router = try await router()
    try router.connect(transport, key: SymmetricKey(data: Data(repeating: 3, count: 32)))
    #expect(try await router.sync(key).kind == .received)
    #expect(try await router.get(key) == "admin")
    try await router.set("user", for: key)
    #expect(try await router.sync(key).kind == .sent)
    #expect(try await router.sync(key).kind == .upToDate)
    transport.plant(OldForm.shared, name)
    #expect(await code { _ = try await router.sync(key) } == .damaged)
    #expect(try await router.get(key) == "user")
  }
}
