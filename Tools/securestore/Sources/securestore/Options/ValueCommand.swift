internal import ArgumentParser
internal import DefaultsBackend
internal import Foundation
internal import StorageCore
internal import VaultBackend

/// The option that selects a suite.
struct SuiteOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "A suite of sealed UserDefaults, instead of a vault: its name, or the path of its file. The suite of "
        + "@UserDefault has the application's id as its name.", valueName: "name"),
    completion: .file(extensions: ["plist"]))
  var suite: String?
}

/// A command on a store of values: a vault, a suite, or a store in etcd.
///
/// It has the three groups itself. In a debug build ArgumentParser checks each group four times for each level that
/// it is nested, which took most of a command's time.
protocol ValueCommand: ParsableCommand {
  var vault: VaultOptions { get }
  var suite: SuiteOptions { get }
  var etcd: EtcdOptions { get }
}

extension ValueCommand {
  /// The store that the options name.
  func place() throws -> ValuePlace {
    if let place = try etcd.place(vault, suite: suite.suite) { return .etcd(place) }
    guard let suite = suite.suite else { return .vault(try vault.place()) }
    guard vault.vault == nil else {
      throw Failure(.usage, "give --vault or --suite, not both")
    }
    return .suite(try SuitePlace(suite, vault))
  }
}

/// The store of values that the operator named.
enum ValuePlace {
  case vault(VaultPlace)
  case suite(SuitePlace)
  case etcd(EtcdPlace)

  /// The absolute path of its file, or the name of the store in etcd.
  var path: String {
    switch self {
    case .vault(let place): place.path
    case .suite(let place): place.path
    case .etcd(let place): place.path
    }
  }

  /// The store, which must exist.
  func open(
    _ options: KeyOptions, _ access: VaultAccess = .readWrite
  ) throws -> DelegatedStorage {
    switch self {
    case .vault(let place):
      access == .readOnly ? try place.open(options, access) : try place.openForValues(options)
    case .suite(let place): try place.open(options)
    case .etcd(let place): try place.open(options)
    }
  }

  /// What a started program could read the key of the store from.
  func traces(_ options: KeyOptions) throws -> KeyTraces {
    switch self {
    case .vault(let place): try KeyTraces(options, place.knownSlots(of: place.path))
    case .suite(let place): try KeyTraces(options, place.slots())
    case .etcd(let place): try KeyTraces(options, place.slots())
    }
  }
}
