internal import Foundation
internal import RemoteBackend
internal import StorageCore

/// A store that many machines share, in whatever engine.
protocol SharedStore: OperatedStore {
  /// What people call the engine.
  var engine: String { get }
  /// Stands for the store where options of a key need a place.
  var place: VaultPlace { get }

  /// The store, whether it exists or not; reads ask the engine.
  func storage(_ source: KeySource) -> RemoteStorage
  /// What doctor says of the engine's members.
  func engineFindings() throws -> [Finding]
}

extension SharedStore {
  /// The store, which must exist: only init makes it.
  func open(_ options: KeyOptions) throws -> RemoteStorage {
    let storage = try storage(keySource(options, isNew: false))
    try storage.open(.mustExist)
    return storage
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
