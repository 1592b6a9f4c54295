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

  /// The bytes that a value is bound to; without a place, the older form.
  func bytes(_ place: [UInt8]?) -> [UInt8] {
    var bytes = domain
    if let place { bytes.appendField(place) }
    bytes.appendField(name.utf8)
    return bytes
  }

  /// The bytes that a stored value must be bound to.
  ///
  /// No value is bound to an empty id, so a value at a place without an id does not open.
  func bytes(of envelope: Envelope) throws(StorageError) -> [UInt8] {
    guard envelope.isBound else { return bytes(nil) }
    return bytes(try place?.id(false) ?? [])
  }

  /// Refuses a place whose id belongs to another place.
  func requirePlace() throws(StorageError) { _ = try place?.id(false) }

  /// Refuses a value of the older form where only the newer one may be.
  func requireForm(of envelope: Envelope) throws(StorageError) {
    guard !envelope.isBound, let place else { return }
    try place.requireOldForm()
  }
}

/// A place of which there are several of the same kind, for example a folder of the caller's
/// choice.
struct BoundPlace: Sendable {
  /// The id of the place; nil if it has none yet, which happens only for reading.
  let id: @Sendable (_ isWriting: Bool) throws(StorageError) -> [UInt8]?
  /// Throws `damaged` unless a value that is bound to no place may belong to this place.
  let requireOldForm: @Sendable () throws(StorageError) -> Void
  /// What to do if a value belongs to another place; part of an error.
  let advice: String
}
