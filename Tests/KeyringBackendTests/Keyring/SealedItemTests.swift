import Foundation
import TestSupport
import Testing

@testable import KeyringBackend

@Suite struct SealedItemTests {
  private let desktop: Desktop
  private let service = Desktop.freshService()
  private let foreign: Foreign
  private let marker = "marker-hunter2-marker"
  private static let binary = "application/octet-stream"

  init() throws {
    desktop = try Desktop()
    foreign = try Foreign(desktop)
  }

  private static let forms: [(accessibility: Accessibility, passcode: String?, name: String)] = [
    (.whenUnlockedThisDeviceOnly, nil, "device"),
    (.afterFirstUnlockThisDeviceOnly, nil, "device"),
    (.whenUnlocked, "1234", "passcode"),
    (.afterFirstUnlock, "1234", "passcode"),
    (.whenUnlockedThisDeviceOnly, "1234", "device+passcode"),
    (.whenPasscodeSetThisDeviceOnly, "1234", "device+passcode"),
  ]

  private func keyring(
    _ form: (accessibility: Accessibility, passcode: String?, name: String),
    service: String? = nil, group: String? = nil
  ) -> Keyring {
    desktop.keyring(
      service ?? self.service, group: group, accessibility: form.accessibility,
      authentication: form.passcode == nil ? [] : .devicePasscode, passcode: form.passcode)
  }

  /// The sealed bytes of the only item.
  private func sealed() throws -> [UInt8] {
    let items = try foreign.items(["service": service])
    try #require(items.count == 1)
    return items[0].secret
  }

  /// Puts bytes into the only item.
  private func replace(_ bytes: [UInt8]) throws {
    let item = try foreign.items(["service": service])[0]
    try foreign.createItem(bytes, label: item.label, item.attributes, contentType: Self.binary)
    try #require(try sealed() == bytes)
  }

  @Test(arguments: forms.indices)
  func aSealedValueIsReadByItsOwnProgramAndByNoOther(_ index: Int) throws {
    let form = Self.forms[index]
    let container = keyring(form).container(for: "account")
    try container.store(marker)
    #expect(try container.fetch(String.self) == marker)
    let item = try #require(try foreign.items(["service": service]).first)
    #expect(item.attributes["sps:sealed"] == form.name)
    #expect(!item.secret.contains(Array(marker.utf8.prefix(8))))
    #expect(try keyring(form).keys() == ["account"])
    try container.store(Data([0, 1]))
    #expect(try container.drop(Data.self) == Data([0, 1]))
    #expect(try container.isEmpty)
  }

  @Test func theDocumentsExampleOpensAndIsOfThatForm() throws {
    // Made by another implementation: docs/keyring.md, "The sealed form".
    let bytes = try FormatDocument("keyring.md").bytes("sealed-item")
    let secrets = SealedSecret.Secrets(
      device: try SecureBytes(Array(0x40..<0x60)), passcode: try SecureBytes(Array("1234".utf8)))
    func open(_ account: String) throws -> SecureBytes {
      try SealedSecret.open(
        SecureBytes(bytes), [.device, .passcode], { () throws(StorageError) in secrets },
        for: SealedSecret.Binding(service: "com.example.mail", account: account, group: nil),
        waivesFloor: true)
    }
    #expect(try open("alice") == SecureBytes(Array("hunter2".utf8)))
    #expect(code { _ = try open("bob") } == .damaged)
  }

  @Test func aShortPasscodeThatOpensAnOldItemIsToldOnce() throws {
    let bytes = try SecureBytes(FormatDocument("keyring.md").bytes("sealed-item"))
    let secrets = SealedSecret.Secrets(
      device: try SecureBytes(Array(0x40..<0x60)), passcode: try SecureBytes(Array("1234".utf8)))
    let said = Lock<[StorageError]>([])
    let former = StorageDiagnostics.handler
    defer { StorageDiagnostics.handler = former }
    StorageDiagnostics.handler = { error in
      if error.key == "alice" { said.withLock { $0.append(error) } } else { former(error) }
    }
    for _ in 0..<3 {
      _ = try SealedSecret.open(
        bytes, [.device, .passcode], { () throws(StorageError) in secrets },
        for: SealedSecret.Binding(service: "com.example.mail", account: "alice", group: nil))
    }
    #expect(said.withLock { $0.map(\.code) } == [.invalid])
    #expect(!"\(said.withLock { $0 })".contains("1234"))
  }

  @Test func theSameValueIsNeverSealedAlike() throws {
    let container = keyring(Self.forms[0]).container(for: "account")
    try container.store(marker)
    let first = try sealed()
    try container.store(marker)
    #expect(try sealed() != first)
  }

  @Test func anotherPasscodeOrMachineIsTheWrongKey() throws {
    func other(_ accessibility: Accessibility, key: UInt8 = 1, _ passcode: String? = nil) -> Keyring
    {
      desktop.keyring(
        service, accessibility: accessibility,
        authentication: passcode == nil ? [] : .devicePasscode, deviceKey: key, passcode: passcode)
    }
    let refused: [(Keyring, Keyring)] = [
      (other(.whenUnlocked, "1234"), other(.whenUnlocked, "1235")),
      (other(.whenUnlockedThisDeviceOnly), other(.whenUnlockedThisDeviceOnly, key: 2)),
      (other(.whenPasscodeSetThisDeviceOnly, "1"), other(.whenPasscodeSetThisDeviceOnly, "2")),
      (
        other(.whenPasscodeSetThisDeviceOnly, "1"),
        other(.whenPasscodeSetThisDeviceOnly, key: 2, "1")
      ),
    ]
    for (right, wrong) in refused {
      try right.container(for: "account").store(marker)
      let before = try sealed()
      #expect(code { _ = try wrong.container(for: "account").fetch(String.self) } == .wrongKey)
      #expect(code { _ = try wrong.container(for: "account").drop(String.self) } == .wrongKey)
      #expect(
        code { try wrong.container(for: "account").copy(to: wrong.container(for: "b")) }
          == .wrongKey)
      #expect(try sealed() == before)
      #expect(try right.container(for: "account").fetch(String.self) == marker)
      try right.empty()
    }
  }

  @Test(arguments: [0, 2, 4])
  func everyBitOfTheSealedFormCounts(_ index: Int) throws {
    let container = keyring(Self.forms[index]).container(for: "account")
    try container.store("abc")
    let good = try sealed()
    #expect(good.count == SealedSecret.headerSize + 6 + 12 + 3 + 16)
    let protection = container.keyring.protection
    let binding = SealedSecret.Binding(service: service, account: "account", group: nil)
    for position in good.indices {
      for bit in [UInt8(1), 0x80] {
        var bad = good
        bad[position] ^= bit
        let secret = try SecureBytes(bad)
        let failure = code {
          _ = try SealedSecret.open(
            secret, protection.parts,
            { () throws(StorageError) in try protection.secrets(isNew: false) }, for: binding)
        }
        let expected: Set<StorageError.Code> =
          switch position {
          case 4: [.unsupported]
          case 0..<6: [.damaged]
          // Parameters out of their limits, or another key.
          case 6..<18: [.damaged, .wrongKey]
          case 18..<82: [.wrongKey]
          case 82..<84: [.unsupported, .damaged]
          default: [.damaged]
          }
        #expect(
          failure.map { expected.contains($0) } == true, "byte \(position): \(failure as Any)")
      }
    }
    for count in 0..<good.count {
      let secret = try SecureBytes(good[..<count])
      #expect(
        code {
          _ = try SealedSecret.open(
            secret, protection.parts,
            { () throws(StorageError) in try protection.secrets(isNew: false) }, for: binding)
        } == .damaged, "\(count) bytes")
    }
  }

  @Test func absurdParametersAreRefusedBeforeTheyAreUsed() throws {
    let container = keyring(Self.forms[2]).container(for: "account")
    try container.store(marker)
    let good = try sealed()
    let asked = Lock(0)
    let counting = Keyring(
      service: service, group: nil, accessibility: .whenUnlocked,
      authentication: .devicePasscode, access: .patient, client: desktop.client
    ) {
      asked.withLock { $0 += 1 }
      return try SecureBytes(Array("1234".utf8))
    }
    let absurd: [[UInt32]] = [
      [1 << 31, 8, 1], [1 << 19, 8, 1], [1 << 18, 8, 2], [1 << 21, 8, 1], [1 << 20, 32, 16],
      [0, 8, 1], [3, 8, 1], [16, 0, 1],
      [16, 8, 0], [16, .max, 1], [16, 8, .max], [.max, .max, .max],
    ]
    for numbers in absurd {
      var bytes: [UInt8] = []
      for number in numbers { bytes.append(bigEndian: number) }
      try replace(good[..<6] + bytes + good[18...])
      #expect(code { _ = try counting.container(for: "account").fetch(String.self) } == .damaged)
    }
    // Nobody is asked for a passcode that is then used for nothing.
    #expect(asked.withLock { $0 } == 0)
    try replace(good)
    #expect(try counting.container(for: "account").fetch(String.self) == marker)
    #expect(asked.withLock { $0 } == 1)
  }

  @Test(arguments: [0, 2, 4])
  func anItemInAnothersPlaceIsDamaged(_ index: Int) throws {
    let form = Self.forms[index]
    let container = keyring(form).container(for: "account")
    try container.store(marker)
    let bytes = try sealed()
    let others = [
      keyring(form).container(for: "other"),
      keyring(form, service: "other \(service)").container(for: "account"),
      keyring(form, group: "default").container(for: "account"),
      // The same letters, cut elsewhere.
      keyring(form, service: service + "a").container(for: "ccount"),
    ]
    for other in others.filter({ $0.keyring.group == nil }) {
      try other.store("x")
      let item = try #require(
        try foreign.items(["service": other.keyring.service, "account": other.account]).first)
      try foreign.createItem(bytes, item.attributes, contentType: Self.binary)
      #expect(code { _ = try other.fetch(String.self) } == .damaged)
    }
    let renamed = others[2]
    #expect(code { _ = try renamed.fetch(String.self) } == .damaged)
    #expect(try container.fetch(String.self) == marker)
  }

  @Test func anAttributeThatLiesIsNoValue() throws {
    let plain = desktop.keyring(service).container(for: "account")
    let sealed = keyring(Self.forms[0]).container(for: "account")
    try sealed.store(marker)
    var item = try foreign.items(["service": service])[0]
    // The seal's attribute taken away: then it is bytes, and no text.
    let queries = ItemQueries(client: desktop.client)
    #expect(try queries.remove(["service": service], [.access(.patient)]) == 1)
    var attributes = item.attributes
    attributes["sps:sealed"] = nil
    try foreign.createItem(item.secret, attributes, contentType: Self.binary)
    #expect(code { _ = try plain.fetch(String.self) } == .typeMismatch)
    #expect(code { _ = try sealed.fetch(String.self) } == .typeMismatch)
    // Another seal than there is.
    try foreign.createItem(
      [1], ["service": "other \(service)", "account": "account", "sps:sealed": "device"])
    let other = keyring(Self.forms[0], service: "other \(service)").container(for: "account")
    #expect(code { _ = try other.fetch(String.self) } == .damaged)
    attributes = item.attributes
    attributes["service"] = "third \(service)"
    attributes["sps:sealed"] = "passcode"
    item = Foreign.Item(label: item.label, attributes: attributes, secret: item.secret)
    try foreign.createItem(item.secret, item.attributes, contentType: Self.binary)
    let third = keyring(Self.forms[2], service: "third \(service)").container(for: "account")
    #expect(code { _ = try third.fetch(String.self) } == .damaged)
  }

  @Test func whatIsSealedInAnotherWayIsAnErrorAndIsLeftAlone() throws {
    let plain = desktop.keyring(service).container(for: "account")
    let sealed = keyring(Self.forms[0]).container(for: "account")
    let passcode = keyring(Self.forms[2]).container(for: "account")
    for (one, other) in [(plain, sealed), (sealed, plain), (sealed, passcode), (passcode, plain)] {
      try one.store(marker)
      #expect(code { _ = try other.fetch(String.self) } == .typeMismatch)
      #expect(code { try other.store("x") } == .typeMismatch)
      #expect(code { try other.empty() } == .typeMismatch)
      #expect(try other.keyring.keys() == [])
      try other.keyring.empty()
      #expect(try one.fetch(String.self) == marker)
      try one.empty()
    }
  }

  @Test func aMoveSealsAnewAndLeavesNoPlainCopy() throws {
    let plain = desktop.keyring(service).container(for: "account")
    let passcode = keyring(Self.forms[4]).container(for: "account")
    try plain.store(marker)
    #expect(try plain.move(to: passcode))
    #expect(try passcode.fetch(String.self) == marker)
    #expect(try plain.keyring.keys() == [])
    #expect(try sealed() != Array(marker.utf8))
    #expect(try passcode.move(to: plain))
    #expect(try plain.fetch(String.self) == marker)
    #expect(try sealed() == Array(marker.utf8))
    // A plain store beside a sealed one does not take that one's place.
    #expect(try plain.copy(to: passcode))
    try plain.store("plain")
    #expect(try passcode.fetch(String.self) == marker)
    #expect(try plain.fetch(String.self) == "plain")
  }

  @Test(arguments: [0, 2]) func aPlantedPlainItemDoesNotReplaceASealedOne(_ form: Int) throws {
    let plain = desktop.keyring("plain \(service)").container(for: "account")
    let sealed = keyring(Self.forms[form]).container(for: "account")
    try plain.store(marker)
    #expect(try plain.move(to: sealed))
    try plain.store("planted")
    #expect(code { _ = try plain.move(to: sealed) } == .conflict)
    #expect(try sealed.fetch(String.self) == marker)
    #expect(try plain.fetch(String.self) == "planted")
    // A move that was killed after the copy is finished.
    try plain.store(marker)
    #expect(try plain.move(to: sealed))
    #expect(try plain.isEmpty)
    #expect(try sealed.fetch(String.self) == marker)
  }

  @Test func aPasscodeThatCannotBeHadIsKeyUnavailable() throws {
    struct Mine: Error, CustomStringConvertible { let description = "marker" }
    func keyring(_ passcode: @escaping @Sendable () throws -> SecureBytes?) -> Keyring.Container {
      Keyring(
        service: service, group: nil, accessibility: .whenUnlocked,
        authentication: .devicePasscode, access: .patient, client: desktop.client,
        passcode: passcode
      ).container(for: "account")
    }
    for short in ["1", "1234567"] {
      #expect(code { try keyring { try SecureBytes(Array(short.utf8)) }.store(marker) } == .invalid)
    }
    #expect(try keyring { nil }.isEmpty)
    try keyring { try SecureBytes(Array("12345678".utf8)) }.store(marker)
    #expect(try keyring { try SecureBytes(Array("12345678".utf8)) }.fetch(String.self) == marker)
    #expect(code { _ = try keyring { nil }.fetch(String.self) } == .keyUnavailable)
    #expect(code { try keyring { nil }.store("x") } == .keyUnavailable)
    #expect(code { _ = try keyring { try SecureBytes([]) }.fetch(String.self) } == .invalid)
    #expect(
      code { _ = try keyring { throw StorageError(.denied, "no") }.fetch(String.self) } == .denied)
    do throws(StorageError) {
      _ = try keyring { throw Mine() }.fetch(String.self)
      Issue.record("it was read")
    } catch {
      #expect(error.code == .keyUnavailable)
      #expect(!"\(error)".contains("marker"))
    }
  }

  @Test func aDeviceKeyThatIsNotThereIsSaidAndNotMadeForAFetch() throws {
    func container(_ material: KeyMaterial?) -> Keyring.Container {
      Keyring(
        service: service, group: nil, accessibility: .whenUnlockedThisDeviceOnly,
        authentication: [], access: .patient, client: desktop.client,
        deviceKey: {
          var key = KeySource.Candidate(.file, "device.key") { () throws(StorageError) in material }
          key.make = { () throws(StorageError) in throw StorageError(.full, "made") }
          return KeySource([key])
        }, passcode: nil
      ).container(for: "account")
    }
    try keyring(Self.forms[0]).container(for: "account").store(marker)
    #expect(code { _ = try container(nil).fetch(String.self) } == .keyUnavailable)
    #expect(code { try container(nil).store("x") } == .full)
    let text = try SecureBytes(Array("text".utf8))
    #expect(code { _ = try container(.passphrase(text)).fetch(String.self) } == .damaged)
  }
}
