// The calls of the Apple package for objects of Foundation. They throw, as they do there.

extension Storage {
  /// Stores an object or another value; removes the key's value when it is nil.
  ///
  /// An object that conforms to `NSSecureCoding` is stored as a keyed archive, another value in the
  /// form that ``save(_:forKey:)`` gives it. A `Codable` type of your own goes through
  /// ``save(_:forKey:)``.
  ///
  /// - Parameters:
  ///   - object: the value.
  ///   - key: the key.
  /// - Throws: `StorageError`: `unsupported` for any other value. The old value is then still
  ///   there, except with `outcomeUnknown`.
  public func set(object: Any?, forKey key: StoreKey) throws(StorageError) {
    try save(object, forKey: key)
  }

  /// The value of a key, in whatever form it was stored; nil when there is none.
  ///
  /// An archive is opened if it holds only Foundation objects that a property list can hold,
  /// `NSURL` and `NSUUID`. To load another class, name it: `load(Palette.self, forKey: "palette")`.
  /// So nobody who can write to the store chooses which class is created.
  ///
  /// - Parameter key: the key.
  /// - Returns: the value, to be cast with `as?`, or nil.
  /// - Throws: `StorageError`: `typeMismatch` for a class that has to be named and for a value that
  ///   was stored as `Codable`, `damaged`, or why the store can't be read.
  public func object(forKey key: StoreKey) throws(StorageError) -> Any? {
    try store.read(store.name(key), ValueCoder<Any>.objects)
  }
}
