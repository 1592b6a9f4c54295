internal import Synchronization

/// The store, the name and the caller's tag that a record is bound to, besides its key.
///
/// It holds the associated data of docs/file-format.md, section "Record". Making a context copies a
/// hundred bytes, so keep it if the same name is used again. Any thread may use it, many at once.
@safe
public final class RecordContext: @unchecked Sendable {
  /// Its length makes the fields, without a tag of the caller, fill whole AES blocks: OpenSSL
  /// processes the bytes of a partial block one by one.
  static let magic: [UInt8] = Array("SPSrec".utf8)
  /// The offset of the header's six bytes: behind the magic and two lengths.
  static let headerOffset = 4 + magic.count + 4

  // Written in `init` and, once, by the thread that changed `placed` from `noHeader` to
  // `beingPlaced`.
  private let template: UnsafeMutableRawBufferPointer
  /// The header in `template`; nearly all uses need this header, and then copy nothing.
  private let placed = Atomic<UInt64>(RecordContext.noHeader)
  private static let noHeader: UInt64 = 0
  private static let beingPlaced: UInt64 = 1

  /// The name hash that the context binds.
  public let name: NameHash
  /// An object with which the maker recognises the context.
  package let origin: (any AnyObject & Sendable)?

  /// Makes the context of the record that `store` keeps under `name`.
  ///
  /// - Parameters:
  ///   - store: the store's identifier.
  ///   - name: the keyed hash of the record's key name.
  ///   - authenticationTag: additional data of the caller that must match when the record is
  ///     opened. It is not stored. An empty tag is the same as none.
  public convenience init(store: StoreID, name: NameHash, authenticationTag: [UInt8] = []) {
    self.init(store: store, name: name, authenticationTag: authenticationTag, origin: nil)
  }

  /// The same, with an origin.
  package init(
    store: StoreID, name: NameHash, authenticationTag: [UInt8],
    origin: (any AnyObject & Sendable)?
  ) {
    // Without temporary arrays, because a transaction makes a context for each of its names.
    let words = name.words
    let header = (UInt32(0), UInt16(0))  // six bytes, written when the header is known
    let fields = 5 * 4 + Self.magic.count + RecordHeader.byteCount + StoreID.byteCount
    let count = fields + NameHash.byteCount + authenticationTag.count
    unsafe template = .allocate(byteCount: count, alignment: 16)
    self.name = name
    self.origin = origin
    var offset = 0
    unsafe Self.magic.withUnsafeBytes { unsafe put($0, at: &offset) }
    unsafe withUnsafeBytes(of: header) {
      unsafe put(UnsafeRawBufferPointer(rebasing: $0[..<RecordHeader.byteCount]), at: &offset)
    }
    unsafe store.bytes.withUnsafeBytes { unsafe put($0, at: &offset) }
    unsafe withUnsafeBytes(of: words) { unsafe put($0, at: &offset) }
    unsafe authenticationTag.withUnsafeBytes { unsafe put($0, at: &offset) }
  }

  /// Writes the length of a field, then the field, into the template.
  private func put(_ field: UnsafeRawBufferPointer, at offset: inout Int) {
    unsafe template.storeBytes(
      of: UInt32(field.count).bigEndian, toByteOffset: offset, as: UInt32.self)
    unsafe UnsafeMutableRawBufferPointer(rebasing: template[(offset + 4)...])
      .copyMemory(from: field)
    offset += 4 + field.count
  }

  deinit { unsafe template.deallocate() }

  /// Lends the associated data with `header` inserted.
  @inline(__always)
  func withAssociatedData<Result>(
    _ header: RecordHeader,
    _ body: (UnsafeRawBufferPointer) throws(CryptoError) -> Result
  ) throws(CryptoError) -> Result {
    if placed.load(ordering: .acquiring) == header.code {
      return try unsafe body(UnsafeRawBufferPointer(template))
    }
    return try unsafe withCopy(header, body)
  }

  private func withCopy<Result>(
    _ header: RecordHeader,
    _ body: (UnsafeRawBufferPointer) throws(CryptoError) -> Result
  ) throws(CryptoError) -> Result {
    if placed.compareExchange(
      expected: Self.noHeader, desired: Self.beingPlaced, ordering: .acquiring
    ).exchanged {
      unsafe header.write(to: template.baseAddress! + Self.headerOffset)
      placed.store(header.code, ordering: .releasing)
      return try unsafe body(UnsafeRawBufferPointer(template))
    }
    return try unsafe withUnsafeTemporaryAllocation(byteCount: template.count, alignment: 16) {
      (buffer) throws(CryptoError) in
      // The header's bytes of the template are not read, since another thread may be writing them.
      let offset = Self.headerOffset
      let rest = offset + RecordHeader.byteCount
      unsafe buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: template[..<offset]))
      unsafe header.write(to: buffer.baseAddress! + offset)
      unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[rest...])
        .copyMemory(from: UnsafeRawBufferPointer(rebasing: template[rest...]))
      return try unsafe body(UnsafeRawBufferPointer(buffer))
    }
  }
}

extension [UInt8] {
  // Inlinable, because a generic call to another module costs many times the work of the function.

  /// Appends a field behind its length as 32 bits, most significant byte first.
  package mutating func appendField(_ field: some Collection<UInt8>) {
    append(bigEndian: UInt32(field.count))
    append(contentsOf: field)
  }

  /// Appends an integer, most significant byte first.
  @inlinable
  package mutating func append(bigEndian value: some FixedWidthInteger) {
    unsafe Swift.withUnsafeBytes(of: value.bigEndian) { unsafe append(contentsOf: $0) }
  }
}
