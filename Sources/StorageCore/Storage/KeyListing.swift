/// The keys of a storage.
public struct KeyListing: Hashable, Sendable {
  /// The keys that have a value, in any order.
  public let keys: [StoreKey]
  /// How many records can't be opened: damaged ones, and those of another authentication tag, whose
  /// keys are therefore not known.
  ///
  /// In a vault also those that are not there, and that nobody with its keys removed.
  public let unreadable: Int
}
