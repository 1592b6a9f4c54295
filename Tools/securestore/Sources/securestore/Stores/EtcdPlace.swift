internal import EtcdBackend
internal import Foundation
internal import StorageCore

/// A store in etcd that the operator named, and the sources of its key.
struct EtcdPlace: OperatedStore {
  let kind = "a store in etcd"
  private let configuration: EtcdConfiguration
  /// The files of certificates that were named.
  var certificates: EtcdCertificates? { configuration.certificates }
  private let authenticationTag: Data?
  /// Stands for the store where options of a key need a place.
  let place: VaultPlace
  /// The store's name, for messages.
  let path: String

  init(_ endpoints: [String], _ prefix: String, _ options: StoreOptions) throws {
    func file(_ path: String?) throws -> URL? {
      try path.map { URL(fileURLWithPath: try Path.absolute($0)) }
    }
    var certificates = EtcdCertificates(authority: try file(options.authority))
    if let certificate = try file(options.certificate), let key = try file(options.certificateKey) {
      certificates = EtcdCertificates(
        authority: try file(options.authority), certificate: certificate, key: key)
    }
    var user: EtcdUser?
    if let name = options.user, let password = try file(options.passwordFile) {
      user = EtcdUser(name, passwordFile: password)
    }
    path = prefix
    let deadline = Duration.milliseconds(Int64(max(options.wait, 1) * 1000))
    configuration = EtcdConfiguration(
      endpoints: endpoints, prefix: prefix, certificates: certificates, user: user,
      deadline: deadline)
    authenticationTag = options.tag
    place = try VaultPlace(
      path: "/etcd", application: options.app, authenticationTag: authenticationTag,
      deadline: deadline)
  }

  /// The store, which must exist: only init makes it.
  func open(_ options: KeyOptions) throws -> EtcdStorage {
    let storage = try storage(keySource(options, isNew: false))
    try storage.open(.mustExist)
    return storage
  }

  /// The store, whether it exists or not; reads ask etcd.
  func storage(_ source: KeySource) -> EtcdStorage {
    EtcdStorage(
      configuration, keySource: source, reading: .linearizable,
      authenticationTag: authenticationTag)
  }

  /// What opens the store; needs no key.
  func slots() throws -> [KeySlot] {
    try storage(.firstAvailable([])).keyAdministration.slots()
  }

  /// The key option; else the key of the environment, or the application's own source.
  func keySource(_ options: KeyOptions, isNew: Bool, _ output: Output? = nil) throws -> KeySource {
    if let choice = try options.choice() ?? place.ownChoice {
      return try (isNew ? choice : choice.named(by: slots()))
        .source(for: place, opening: isNew ? nil : path, warning: output)
    }
    guard place.application != nil else {
      throw Failure(
        .usage, "say which key opens the store: --key-file PATH, or another key option",
        path: path)
    }
    return .automatic
  }
}
