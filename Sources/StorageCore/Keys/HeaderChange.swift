/// What a change of a store's header leaves behind of the old one.
package enum HeaderChange {
  /// The check value of a header's root key, or nil for what is no header.
  package static func rootCheck(of header: [UInt8]) -> [UInt8]? {
    do throws(StorageError) {
      return try StoreHeader(reading: header).rootCheck
    } catch {
      return nil
    }
  }

  /// Whether a change does no more than set seals aside, as every process does at its start.
  ///
  /// Whoever opens the new header may know all that the old one says, so that need not be wiped.
  package static func isReservation(from old: [UInt8]?, to new: [UInt8]) -> Bool {
    guard let old else { return true }
    do throws(StorageError) {
      let (before, after) = (try StoreHeader(reading: old), try StoreHeader(reading: new))
      // A data key that comes or goes changes the length.
      return before.store == after.store && before.slots == after.slots
        && before.rootCheck == after.rootCheck
        && before.sealedKeyset.count == after.sealedKeyset.count
    } catch {
      return false  // a header that is not of this module's making
    }
  }
}
