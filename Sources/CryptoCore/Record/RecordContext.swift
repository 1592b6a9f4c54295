/// What a record is bound to besides its key: its store, its name, the caller's own tag.
///
/// The associated data of docs/file-format.md, section "Record", with room for the header. Making
/// one copies a hundred bytes; keep it where the same name is used again.
public struct RecordContext: Sendable {
  static let magic: [UInt8] = Array("SPSr".utf8)
  /// Where the header's six bytes go: behind the magic and two lengths.
  static let headerOffset = 4 + magic.count + 4

  let template: [UInt8]
  /// The name hash that the context binds.
  public let name: NameHash

  /// The context of the record that `store` keeps under `name`.
  ///
  /// - Parameters:
  ///   - store: the store's identifier.
  ///   - name: the keyed hash of the record's key name.
  ///   - authenticationTag: further data of the caller that must match when the record is opened;
  ///     not stored. Empty is the same as none.
  public init(store: StoreID, name: NameHash, authenticationTag: [UInt8] = []) {
    var template: [UInt8] = []
    template.reserveCapacity(110 + authenticationTag.count)
    template.appendField(Self.magic)
    template.appendField([UInt8](repeating: 0, count: RecordHeader.byteCount))
    template.appendField(store.bytes)
    template.appendField(name.bytes)
    template.appendField(authenticationTag)
    self.template = template
    self.name = name
  }

  /// Lends the associated data with `header` in its place.
  @inline(__always)
  func withAssociatedData<Result>(
    _ header: RecordHeader,
    _ body: (UnsafeRawBufferPointer) throws(CryptoError) -> Result
  ) throws(CryptoError) -> Result {
    try unsafe withUnsafeTemporaryAllocation(byteCount: template.count, alignment: 8) {
      (buffer) throws(CryptoError) in
      unsafe template.withUnsafeBytes { unsafe buffer.copyMemory(from: $0) }
      unsafe header.write(to: buffer.baseAddress! + Self.headerOffset)
      return try unsafe body(UnsafeRawBufferPointer(buffer))
    }
  }
}

extension [UInt8] {
  /// Appends a field behind its length as 32 bits, most significant byte first.
  package mutating func appendField(_ field: some Collection<UInt8>) {
    append(bigEndian: UInt32(field.count))
    append(contentsOf: field)
  }

  /// Appends an integer, most significant byte first.
  package mutating func append(bigEndian value: some FixedWidthInteger) {
    unsafe Swift.withUnsafeBytes(of: value.bigEndian) { unsafe append(contentsOf: $0) }
  }
}
