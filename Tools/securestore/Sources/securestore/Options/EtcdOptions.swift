internal import ArgumentParser
internal import Foundation
internal import StorageCore

/// The options that select a store in etcd.
struct EtcdOptions: ParsableArguments {
  @Option(
    name: .customLong("etcd"),
    help: ArgumentHelp(
      "A store in etcd, instead of a vault: the addresses of its members, separated by commas, such as "
        + "https://10.0.0.5:2379.", valueName: "addresses"))
  var endpoints: String?

  @Option(
    help: ArgumentHelp("With --etcd: the store's name, such as /apps/shop.", valueName: "name"))
  var prefix: String?

  @Option(
    name: .customLong("etcd-ca"), help: "With --etcd: the certificate of the authority to trust.",
    completion: .file())
  var authority: String?

  @Option(
    name: .customLong("etcd-cert"), help: "With --etcd: the certificate to show.",
    completion: .file())
  var certificate: String?

  @Option(
    name: .customLong("etcd-key"), help: "With --etcd: the key of that certificate.",
    completion: .file())
  var certificateKey: String?

  @Option(
    name: .customLong("etcd-user"), help: ArgumentHelp("With --etcd: the user.", valueName: "name"))
  var user: String?

  @Option(
    name: .customLong("etcd-password-file"), help: "With --etcd: a file with the user's password.",
    completion: .file())
  var passwordFile: String?

  func validate() throws {
    let others = [prefix, authority, certificate, certificateKey, user, passwordFile]
    guard endpoints != nil || others.allSatisfy({ $0 == nil }) else {
      throw ValidationError("--prefix and the --etcd- options need --etcd ADDRESSES")
    }
    guard (certificate == nil) == (certificateKey == nil) else {
      throw ValidationError("give --etcd-cert and --etcd-key together")
    }
    guard (user == nil) == (passwordFile == nil) else {
      throw ValidationError("give --etcd-user and --etcd-password-file together")
    }
  }

  /// Whether a store in etcd was named.
  var isNamed: Bool { endpoints != nil }

  /// The store, or nil if the operator named none in etcd.
  ///
  /// - Throws: `Failure` if a vault or a suite is named as well.
  func place(_ vault: VaultOptions, suite: String? = nil) throws -> EtcdPlace? {
    guard let endpoints else { return nil }
    guard vault.vault == nil, suite == nil else {
      throw Failure(.usage, "give one of --vault, --suite and --etcd")
    }
    guard let prefix else {
      throw Failure(.usage, "say which store in etcd: --prefix NAME, such as /apps/shop")
    }
    return try EtcdPlace(endpoints.split(separator: ",").map(String.init), prefix, self, vault)
  }
}
