package import Foundation

/// Removes the folders of tests.
package enum FolderRemoval {
  /// Removes a folder and everything in it, also while a store that is being closed removes files
  /// of its own.
  ///
  /// Foundation stops at a file that vanishes while it works, and leaves the others.
  ///
  /// - Throws: why the folder is still there.
  package static func remove(_ folder: URL) throws {
    for _ in 0..<50 {
      do {
        return try FileManager.default.removeItem(at: folder)
      } catch {
        guard FileManager.default.fileExists(atPath: folder.path(percentEncoded: false)) else {
          return
        }
        Thread.sleep(forTimeInterval: 0.01)
      }
    }
    try FileManager.default.removeItem(at: folder)
  }
}
