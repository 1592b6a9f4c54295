internal import Foundation
internal import StorageCore

/// The folders that a router's places are in.
struct Locations: Sendable {
  /// The program's id, which may be settled at the first use.
  let application: @Sendable () throws(StorageError) -> String
  /// The folder that holds all of them, for a router that was given one.
  let root: String?

  /// Where suites are.
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

  /// The folder of the groups of one user.
  func groups() throws(StorageError) -> String {
    if let root { return root + "/groups" }
    return try StandardFolders.sharedData() + "/groups"
  }

  /// The suite of the application.
  func suite() throws(StorageError) -> String { try application() + ".localdata" }
}
