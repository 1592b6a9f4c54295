internal import EtcdBackend
internal import Foundation
internal import StorageCore

/// A store in etcd that the operator named, and the sources of its key.
struct EtcdPlace: SharedStore {
  let kind = "a store in etcd"
  let engine = "etcd"
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
      deadline: deadline, commandTimeout: options.commandTimeout?.duration)
  }

  /// The store, whether it exists or not; reads ask etcd.
  func storage(_ source: KeySource) -> RemoteStorage { etcd(source) }

  func etcd(_ source: KeySource) -> EtcdStorage {
    EtcdStorage(
      configuration, keySource: source, reading: .linearizable,
      authenticationTag: authenticationTag)
  }
}
