/// The type and size of a stored value, known without decoding it as a Swift type.
package struct ValueSummary: Hashable, Sendable {
  /// The type under which the value is stored.
  package let type: ValueType
  /// The size of the value in bytes: the UTF-8 bytes of a text, the bytes of data, or the encoded
  /// form of any other type.
  package let byteCount: Int
}

extension Storage {
  /// The type and the size of a key's value; nil when there is none.
  ///
  /// Works for every type, including types that this program doesn't know. The record is opened.
  ///
  /// - Throws: `StorageError`: `damaged`, or the reason why the store can't be read.
  package func summary(forKey key: StoreKey) throws(StorageError) -> ValueSummary? {
    var summary: ValueSummary?
    _ = try store.withPayload(store.name(key)) { (payload) throws(StorageError) in
      summary = try ValueSummary(ofPayload: payload)
    }
    return summary
  }
}

extension StorageTransaction {
  /// The type and the size of a key's value; nil when there is none.
  ///
  /// Works for every type, including types that this program doesn't know. Values that this
  /// transaction has written count.
  ///
  /// - Throws: `StorageError`: `damaged`, or the reason why the store can't be read.
  package func summary(forKey key: StoreKey) throws(StorageError) -> ValueSummary? {
    var summary: ValueSummary?
    _ = try withPayload(key) { (payload) throws(StorageError) in
      summary = try ValueSummary(ofPayload: payload)
    }
    return summary
  }
}

extension ValueSummary {
  fileprivate init(ofPayload payload: RawSpan) throws(StorageError) {
    var offset = try Payload.valueOffset(payload)
    let type = try ValueType.read(payload, at: &offset)
    if type.isCounted { offset += MemoryLayout<UInt32>.size }
    guard offset <= payload.byteCount else {
      throw StorageError(.damaged, "the value is shorter than its type requires")
    }
    self.init(type: type, byteCount: payload.byteCount - offset)
  }
}

extension ValueType {
  /// Whether the stored form is a byte count followed by that many bytes, and nothing else.
  fileprivate var isCounted: Bool {
    switch tag {
    case .string, .data, .url, .decimal, .json, .propertyList, .archive: true
    default: false
    }
  }
}
