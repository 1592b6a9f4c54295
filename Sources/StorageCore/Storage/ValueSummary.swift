/// What is known of a stored value without reading it as a Swift type.
public struct ValueSummary: Hashable, Sendable {
  /// The type that it is stored as.
  public let type: ValueType
  /// How many bytes the value takes: the UTF-8 bytes of a text, the bytes of data, the encoded form
  /// of anything else.
  public let byteCount: Int
}

extension Storage {
  /// The type and the size of a key's value, or nil when there is none.
  ///
  /// Works for every type, also for one that this program doesn't know; the record is opened.
  ///
  /// - Throws: `StorageError`: `damaged`, or why the store can't be read.
  public func summary(forKey key: StoreKey) throws(StorageError) -> ValueSummary? {
    var summary: ValueSummary?
    _ = try store.withPayload(store.name(key)) { (payload) throws(StorageError) in
      summary = try ValueSummary(ofPayload: payload)
    }
    return summary
  }
}

extension StorageTransaction {
  /// The type and the size of a key's value, or nil when there is none.
  ///
  /// Works for every type, also for one that this program doesn't know. A value that this transaction has
  /// written counts.
  ///
  /// - Throws: `StorageError`: `damaged`, or why the store can't be read.
  public func summary(forKey key: StoreKey) throws(StorageError) -> ValueSummary? {
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
      throw StorageError(.damaged, "the value is shorter than it says")
    }
    self.init(type: type, byteCount: payload.byteCount - offset)
  }
}

extension ValueType {
  /// Whether a value is bytes behind their count and nothing else.
  fileprivate var isCounted: Bool {
    switch tag {
    case .string, .data, .url, .decimal, .json, .propertyList, .archive: true
    default: false
    }
  }
}
