internal import Foundation

/// A vault of typed storage, recognized by its name and its neighbours.
extension VaultPlace {
  /// Whether the vault is the ledger of an application's typed storage, its keychain, or the index
  /// of one of its sealed folders.
  var isOfTypedStorage: Bool {
    let folder = (path as NSString).deletingLastPathComponent
    switch Path.name(of: path) {
    case "localdata.vault": return true
    case Self.indexName: return Path.name(of: folder) == ".sealed"
    case "keychain.vault":
      do { return try Path.isThere(folder + "/localdata.vault") } catch { return false }
    default: return false
    }
  }

  /// What is left to do after the vault's keys were replaced because of a leak: a sentence for each
  /// step.
  var stepsAfterLeak: [String] {
    guard isOfTypedStorage else { return [] }
    return [
      "this is a store of typed storage, whose application also has a master key and other stores, and these "
        + "stay as they are: whoever has an old key and an old copy can still read and forge values there. "
        + "After a leak, run localdata rotate"
    ]
  }
}
