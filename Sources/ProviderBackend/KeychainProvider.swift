public import StorageCore

public import struct FoundationEssentials.Data

/// A place of the application that keeps data by name, such as its wrapper of a keychain.
///
/// A provider promises that `getData` returns what `setData` stored, until it is replaced or
/// deleted.
///
/// The package calls each object one call at a time, from a thread of its own. A call must not use
/// the storage that it serves. If a call does not return within the storage's deadline, the waiting
/// caller gets an error, and so do further callers until the call returns. The calls can't throw:
/// if the provider's own place throws, return false or nil.
///
/// Providers that are equal are one place: make yours `Hashable`, by its service or account, if the
/// program makes more than one. Without that, a class is one place for each object, a value without
/// stored properties is one place for its type, and any other value is a place for each storage. If
/// several such places lead to the same data, live values still see what is written through any
/// of them, at the cost of one read for each place. Only calls through one place take turns.
public protocol KeychainProvider: Sendable {
  /// Stores data under a key, and replaces any older data.
  ///
  /// - Returns: whether the data was stored; false means that the old data remains.
  func setData(_ data: Data, forKey key: String) -> Bool

  /// Deletes the data of a key.
  ///
  /// - Returns: whether the data is gone. If there was no data, false is not an error.
  func deleteData(forKey key: String) -> Bool

  /// The data of a key; nil when there is none.
  ///
  /// The storage trusts nil. A provider that can't read its data, for example because it is locked,
  /// must not return nil while it accepts new data.
  func getData(forKey key: String) -> Data?
}

/// A provider that reports changes which others make to its place.
public protocol ObservableKeychainProvider: KeychainProvider {
  /// Calls `onChange` after a change, with the key, or with nil when the key is not known.
  ///
  /// The provider may call `onChange` from any thread; it returns at once. Changes made through
  /// this provider need not be reported.
  ///
  /// - Returns: an object that keeps the observation alive; releasing it ends the observation.
  func observe(_ onChange: @escaping @Sendable (String?) -> Void) -> ChangeObservation
}
