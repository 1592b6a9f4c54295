public import Foundation
public import StorageCore

extension StorageError: LocalizedError {
  /// The description, for `localizedDescription`.
  public var errorDescription: String? { description }
}
