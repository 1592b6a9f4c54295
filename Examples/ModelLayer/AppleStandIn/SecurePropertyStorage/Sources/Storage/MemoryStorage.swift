/// The actor that all storages belong to.
@globalActor public actor StorageActor {
  /// The one actor.
  public static let shared = StorageActor()
}

/// Values in memory, by their keys.
@StorageActor public final class MemoryStorage {
  private var values: [String: any Sendable] = [:]

  /// Makes an empty place.
  public nonisolated init() {}

  /// The value of a key; nil when there is none, or one of another type.
  public subscript<Value: Sendable>(key: String, as type: Value.Type) -> Value? {
    get { values[key] as? Value }
    set { values[key] = newValue }
  }
}
