/// Whether opening a storage creates a missing store.
public enum StoreExistence: Hashable, Sendable {
  /// A missing store is created.
  case madeIfMissing
  /// A missing store is the error `unavailable`, now and from then on.
  ///
  /// Use this where a missing store may mean a disk that is not mounted or a store that somebody
  /// deleted: nothing tells these from a first start.
  case mustExist
}
