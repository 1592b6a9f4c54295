import CryptoCore
import DefaultsBackend
import FileBackend
import Foundation
import StorageCore
import TestSupport
import Testing
import VaultBackend

/// After a leak and a rotation, the old key reads nothing new and forges nothing: for every kind of
/// store that the package offers.
///
/// The thief has the old key and a copy of the store from before, may read and write all bytes
/// afterwards, and never has the new key.
struct LeakTests {
  static let kinds: [StoreKind] =
    [
      StoreKind(testDescription: "vault") {
        try FolderPlace { url, key in
          let vault = VaultStorage(
            at: url.appendingPathComponent("test.vault"), keySource: .key(key),
            errorClosure: { _ in })
          return StorageProgram(vault) {
            try vault.keyAdministration.rotate(openedBy: .key($0), names: $1)
          }
        }
      },
      StoreKind(testDescription: "suite") {
        try FolderPlace { url, key in
          let suite = UserDefaultsStorage(
            DefaultsDelegate(folder: url.path, suiteName: "suite"), keySource: .key(key),
            errorClosure: { _ in })
          return StorageProgram(suite) {
            try suite.keyAdministration.rotate(openedBy: .key($0), names: $1)
          }
        }
      },
      StoreKind(testDescription: "keyring", canRename: false) { try KeyringPlace() },
      StoreKind(testDescription: "provider", canRename: false) { ProviderPlace() },
      StoreKind(testDescription: "folder, values in the index", make: folder),
      StoreKind(testDescription: "folder, values in files", valueSize: 100_000, make: folder),
    ]
    + [
      "keychain", "keychain that seals", "suite", "documents", "caches", "custom folder",
      "group suite", "group documents",
    ].map { localData($0) } + [16, 50_000].map { localData("sealed documents", valueSize: $0) }

  private static func localData(_ place: String, valueSize: Int = 16) -> StoreKind {
    StoreKind(
      testDescription: "LocalData, \(place), values of \(valueSize) bytes", valueSize: valueSize
    ) {
      try FolderPlace(isPathBound: true) { RouterProgram(folder: $0, key: $1, place: place) }
    }
  }

  private static let folder: @Sendable () throws -> any LeakedPlace = {
    try FolderPlace { url, key in
      FolderProgram(
        folder: SealedFolder(
          at: url.appendingPathComponent("files"), keySource: .key(key), deadline: .seconds(60)))
    }
  }

  /// Every kind, with names that stay and, where that can be, names that are hashed anew.
  static let rotations = kinds.flatMap { kind in
    (kind.canRename ? [false, true] : [false]).map { (kind, $0) }
  }

  @Test(arguments: Depth.cases(rotations, day: 4))
  func theOldKeyReadsNothingThatWasWrittenSince(_ kind: StoreKind, names: Bool) throws {
    let leak = try Leak(kind, names: names)
    // With the old key as it is, and with the old way to the keys put back.
    for old in [[:], leak.stolen.filter { $0.key.isHeader }] {
      let twin = try leak.place.twin()
      try twin.put(old)
      try leak.expectNothingNew(twin.program(Leak.oldKey))
    }
    // In the copy from before, the new bytes under each of its own names.
    let contents = try leak.place.contents()
    for (_, bytes) in contents where leak.stolen.values.allSatisfy({ $0 != bytes }) {
      let twin = try leak.copy.twin()
      try twin.put(leak.stolen.filter { !$0.key.isHeader }.mapValues { _ in bytes })
      try leak.expectNothingNew(twin.program(Leak.oldKey))
    }
  }

  @Test(arguments: Depth.cases(rotations, day: 4))
  func theOldKeyForgesNothingAndPutsNothingBack(_ kind: StoreKind, names: Bool) throws {
    let leak = try Leak(kind, names: names)
    let headers = leak.stolen.filter { $0.key.isHeader }
    let records = leak.stolen.filter { !$0.key.isHeader }
    // What was stolen and what was forged, under its own names, with and without the way to the old
    // keys.
    for planted in [records, leak.forged] {
      for header in [[:], headers] {
        let twin = try leak.place.twin()
        try twin.put(planted.merging(header) { first, _ in first })
        try leak.expectNothingOld(in: twin)
      }
    }
    // Each forged record under every name that there is now.
    for (name, bytes) in leak.forged {
      let twin = try leak.place.twin()
      let targets = try twin.contents().keys.filter {
        !$0.isHeader && ($0.file == name.file || $0.entry.isEmpty == name.entry.isEmpty)
          && !$0.entry.hasPrefix("meta")
      }
      try twin.put(Dictionary(uniqueKeysWithValues: targets.map { ($0, bytes) }))
      try leak.expectNothingOld(in: twin)
    }
  }
}

/// A store whose key leaked, was rotated and written to since.
struct Leak {
  static let oldKey = SymmetricKey(data: Data(repeating: 7, count: 32))
  static let newKey = SymmetricKey(data: Data(repeating: 9, count: 32))
  private static let lastKey = SymmetricKey(data: Data(repeating: 11, count: 32))

  let kind: StoreKind
  /// As it is now, under the new key.
  let place: any LeakedPlace
  /// As it was stolen.
  let copy: any LeakedPlace
  let stolen: [RawName: Data]
  /// What the thief has written with the old key to a copy.
  let forged: [RawName: Data]

  init(_ kind: StoreKind, names: Bool) throws {
    self.kind = kind
    place = try kind.make()
    for name in ["secret", "other"] {
      try place.program(Self.oldKey).save(kind.value("first"), name)
    }
    copy = try place.twin()
    let contents = try copy.contents()
    stolen = contents
    let forgery = try copy.twin()
    for name in ["secret", "planted"] {
      try forgery.program(Self.oldKey).save(kind.value("forged"), name)
    }
    forged = try forgery.contents().filter { contents[$0.key] != $0.value && !$0.key.isHeader }
    try place.program(Self.oldKey).rotate(to: Self.newKey, names: names)
    for name in ["secret", "later"] {
      try place.program(Self.newKey).save(kind.value("second"), name)
    }
    let values = try place.program(Self.newKey).load(["secret", "later", "other"])
    #expect(
      values.mapValues { $0.prefix { $0 != "." } }
        == ["secret": "second", "later": "second", "other": "first"])
  }

  /// Expects errors, old values or nothing.
  func expectNothingNew(_ thief: any LeakedProgram) throws {
    for (name, value) in try thief.load(["secret", "later", "other"]) {
      #expect(value != kind.value("second"), "\(name)")
    }
  }

  /// Expects the new values or errors, also after another rotation.
  func expectNothingOld(in place: any LeakedPlace) throws {
    try expectNothingOld(try place.program(Self.newKey))
    // What does not open is set aside, and a rotation may refuse: both are fine.
    do {
      try place.program(Self.newKey).rotate(to: Self.lastKey, names: false)
    } catch is StorageError {
      return
    }
    try expectNothingOld(try place.program(Self.lastKey))
  }

  private func expectNothingOld(_ owner: any LeakedProgram) throws {
    let values = try owner.load(["secret", "planted", "later", "other"])
    #expect([nil, kind.value("second")].contains(values["secret"]))
    #expect(values["planted"] == nil)
    #expect([nil, kind.value("second")].contains(values["later"]))
    #expect([nil, kind.value("first")].contains(values["other"]))
  }
}
