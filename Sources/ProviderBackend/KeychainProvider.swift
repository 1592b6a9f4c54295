public import StorageCore

public import struct Foundation.Data

/// A place of the application's own for data by name, such as its wrapper of a keychain.
///
/// Promise: what `setData` took, `getData` gives, until it is replaced or deleted. Calls come one after
/// the other for each object, from a thread of the package's own; they must not use the storage that they
/// serve. A call that does not return within the storage's deadline is an error for whoever waits, and so
/// are those that come meanwhile. The calls have no way to throw: a provider whose own place throws
/// returns false or nil.
///
/// A provider that is a class is one place for each object. A value without stored properties is one
/// place for its type; of any other value each storage is a place of its own.
public protocol KeychainProvider: Sendable {
  /// Keeps data under a key, in the place of any other.
  ///
  /// - Returns: whether it is kept; false leaves the old data.
  func setData(_ data: Data, forKey key: String) -> Bool

  /// Deletes the data of a key.
  ///
  /// - Returns: whether it is gone. False where there was none is no error.
  func deleteData(forKey key: String) -> Bool

  /// The data of a key, or nil when there is none.
  ///
  /// Nil is believed. A provider that can't know, as while it is locked, must not return nil and take
  /// data at the same time.
  func getData(forKey key: String) -> Data?
}

/// A provider that tells of changes which others make to its place.
public protocol ObservableKeychainProvider: KeychainProvider {
  /// Calls `onChange` after a change, with the key, or nil where that is not known.
  ///
  /// From any thread; it returns at once. Changes that came through this provider need not be told.
  ///
  /// - Returns: what keeps the observation alive; it ends when that is released.
  func observe(_ onChange: @escaping @Sendable (String?) -> Void) -> ChangeObservation
}
