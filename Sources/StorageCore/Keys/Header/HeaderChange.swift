/// Compares headers, so that a delegate knows whether the old header has to be wiped after a
/// change.
package enum HeaderChange {
  /// The check value of a header's root key, or nil for bytes that are not a header.
  package static func rootCheck(of header: [UInt8]) -> [UInt8]? {
    do throws(StorageError) {
      return try StoreHeader(reading: header).rootCheck
    } catch {
      return nil
    }
  }

  /// Whether a change only reserves seals, as every process does at its start.
  ///
  /// The old header then holds nothing that the new one does not hold, and need not be wiped.
  package static func isReservation(from old: [UInt8]?, to new: [UInt8]) -> Bool {
    guard let old else { return true }
    do throws(StorageError) {
      let (before, after) = (try StoreHeader(reading: old), try StoreHeader(reading: new))
      // Adding or removing a data key changes the length.
      return before.store == after.store && before.slots == after.slots
        && before.rootCheck == after.rootCheck
        && before.sealedKeyset.count == after.sealedKeyset.count
    } catch {
      return false  // a header that this module did not make
    }
  }
}
