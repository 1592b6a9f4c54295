internal import FoundationEssentials
internal import StorageCore

/// The folders of a router's places.
struct Locations: Sendable {
  /// The program's id, which may be decided at the first use.
  let application: @Sendable () throws(StorageError) -> String
  /// The folder that holds all places, if the router was created with one.
  let root: String?

  /// The folder of suites.
  func configuration() throws(StorageError) -> String {
    if let root { return root + "/config" }
    return try StandardFolders.configuration()
  }

  /// The application's data folder.
  func data() throws(StorageError) -> String {
    let application = try application()
    if let root { return root + "/data/" + application }
    return try StandardFolders.data(application: application)
  }

  /// The application's cache folder.
  func caches() throws(StorageError) -> String {
    let application = try application()
    if let root { return root + "/cache/" + application }
    return try StandardFolders.caches(application: application)
  }

  /// The folder of the groups that the configuration names no folder for.
  func groups() throws(StorageError) -> String {
    if let root { return root + "/groups" }
    return try StandardFolders.sharedData() + "/groups"
  }

  /// The name of the application's suite.
  func suite() throws(StorageError) -> String { try application() + ".localdata" }
}
