/// The keys of a storage, and the number of its unreadable records.
public struct KeyListing: Hashable, Sendable {
  /// The keys that have a value, in any order.
  public let keys: [StoreKey]
  /// The number of records that can't be opened, so that their keys are unknown.
  ///
  /// These are damaged records and records sealed with another authentication tag. In a vault,
  /// missing records also count: records that were deleted without the vault's keys.
  public let unreadable: Int
}
