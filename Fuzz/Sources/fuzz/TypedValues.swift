import CryptoCore
import Foundation

@testable import LocalData
@testable import StorageCore

extension Target {
  /// A sealed value of LocalData: docs/localdata.md, "The form of a sealed value".
  ///
  /// One in sixteen that can be read is opened too, with material that anybody has.
  static let envelope = Target(
    name: "envelope", longest: 2_048,
    seeds: { try TypedValues.sealed() },
    make: {
      { input in
        let data = Data(input)
        guard let envelope = try taking({ try Envelope(reading: data) }) else { return }
        let head = Envelope.head(envelope.serializer, envelope.sealing, check: envelope.check)
        guard head == envelope.head, Data(head) + envelope.body == data else {
          finding("an envelope has a second encoding")
        }
        // A hostile count of iterations would take its time, as it may.
        guard isPicked(input, oneIn: 16), (envelope.sealing?.rounds ?? 0) < 100,
          envelope.sealing?.function != .scrypt
        else { return }
        let sealer = ValueSealer(
          nil, envelope.serializer, binding: TypedValues.binding)
        _ = try taking { try sealer.open(envelope, [TypedValues.material()]) }
      }
    })

  /// What a store that machines share has of a key: "The form of a shared entry".
  static let shared = Target(
    name: "shared", longest: 2_048,
    seeds: { TypedValues.shared() },
    make: {
      { input in
        for form in [Serializer.Form.json, .propertyList, .data] {
          let read = try taking {
            try SyncEntry(content: SyncEntry.body(of: Data(input), isSealed: false), form)
          }
          guard let entry = read else { continue }
          guard SyncEntry.head(isSealed: false) + entry.content(form) == Data(input) else {
            finding("a shared entry has a second encoding")
          }
        }
        _ = try taking { try SyncEntry.body(of: Data(input), isSealed: true) }
      }
    })

  /// A catalog, as `securestore audit` takes it: docs/localdata-catalog.md.
  ///
  /// JSON has many encodings of one thing: what is read is written, and read again as the same.
  static let catalog = Target(
    name: "catalog",
    seeds: { TypedValues.catalogs() },
    make: {
      { input in
        func read(_ bytes: Data) throws -> StorageCatalogFile? {
          try taking(also: [.invalid]) { try StorageCatalogFile(json: bytes) }
        }
        guard let file = try read(Data(input)) else { return }
        let report = StorageAuditReport(
          applicationID: file.applicationID, isLive: false,
          keys: file.keys.map { StorageAuditEntry(catalog: "c", key: $0) }, findings: [])
        guard let again = try read(Data(report.json.utf8)), again.keys == file.keys else {
          finding("a catalog is another one when it was written and read again")
        }
        _ = report.text
      }
    })
}

/// Well-formed inputs.
private enum TypedValues {
  static let binding = ValueBinding(["binding"], "x")

  static func material() throws -> SecureBytes { try SecureBytes([UInt8](repeating: 7, count: 32)) }

  static func sealed() throws -> [[UInt8]] {
    let functions: [(Envelope.Function, UInt32)] = [(.hkdfSHA256, 0), (.pbkdf2SHA256, 10)]
    var seeds = [Envelope.head(.json) + Array("\"x\"".utf8)]
    for (function, rounds) in functions {
      for (algorithm, source) in [(AEADAlgorithm.aes256GCM, ""), (.chaCha20Poly1305, "office")] {
        let pattern = Envelope.Sealing(
          origin: source.isEmpty ? .masterKey : .provider, algorithm: algorithm,
          function: function, rounds: rounds, salt: Array("salt".utf8), info: Array("info".utf8),
          source: source)
        let sealer = ValueSealer(
          ValueSealer.Sealing(pattern: pattern, hasRandomSalt: false, waivesFloor: true), .json,
          binding: binding)
        seeds.append(Array(try sealer.seal(Data("\"x\"".utf8), material())))
      }
    }
    return seeds
  }

  static func shared() -> [[UInt8]] {
    [
      SyncEntry(version: 1, value: Data("\"x\"".utf8)), SyncEntry(version: 7, value: nil),
    ].flatMap { entry in
      [Serializer.Form.json, .data].map { form in
        Array(SyncEntry.head(isSealed: false) + entry.content(form))
      }
    }
  }

  static func catalogs() -> [[UInt8]] {
    func key(_ domain: StorageDomain, _ security: SecurityPolicy) -> AnyStorageKey {
      .key(
        StoredKey<String>(
          "x\(domain)", in: domain, security: security, owner: "Fuzz", description: "A seed.",
          availability: .machines(["a", "b"]), syncPolicy: .manual))
    }
    let keys = [
      key(.userDefaults, .none), key(.keychain(service: "default"), .recommended),
      key(
        .keychain(service: nil),
        .keychain(accessibility: .afterFirstUnlock, accessControl: .devicePasscode)),
      key(
        .appGroupFileSystem(id: "g", directory: .caches),
        .encrypted(.aes256(keyDerivation: .pbkdf2(iterations: 9)))),
      key(
        .fileSystem(directory: .custom(URL(filePath: "/srv/x"))),
        .encrypted(.external(source: KeyMaterialSource(id: "office")))),
    ]
    return [keys, Array(keys.prefix(1))].map {
      Array(StorageAuditReport(of: $0, catalog: "Seeds").json.utf8)
    }
  }
}
