internal import StorageCore

/// What the sealed values of a key are bound to: the domain, the place and the name of the key.
struct ValueBinding: Sendable {
  /// The domain, in fields.
  private let domain: [UInt8]
  let name: String
  /// Tells a place from others of its kind; nil if the domain has one place only, or if the place
  /// itself refuses what another place sealed.
  let place: BoundPlace?

  init(_ domain: [String], _ name: String, _ place: BoundPlace? = nil) {
    var bytes: [UInt8] = []
    for field in domain { bytes.appendField(field.utf8) }
    self.domain = bytes
    self.name = name
    self.place = place
  }

  /// The bytes that a value is bound to.
  ///
  /// No value is bound to an empty id, so a value at a place without an id does not open.
  func bytes(isWriting: Bool) throws(StorageError) -> [UInt8] {
    var bytes = domain
    if let place {
      let id = try place.id(isWriting) ?? []
      guard !isWriting || !id.isEmpty else {
        throw StorageError(
          .unavailable, "the place has no id, so nothing can be sealed for it; try again")
      }
      bytes.appendField(id)
    }
    bytes.appendField(name.utf8)
    return bytes
  }

  /// Refuses a place whose id belongs to another place.
  func requirePlace() throws(StorageError) { _ = try place?.id(false) }
}

/// A place of which there are several of the same kind, for example a folder of the caller's
/// choice.
struct BoundPlace: Sendable {
  /// The id of the place; nil if it has none yet, which happens only for reading.
  let id: @Sendable (_ isWriting: Bool) throws(StorageError) -> [UInt8]?
  /// What to do if a value belongs to another place; part of an error.
  let advice: String
}
