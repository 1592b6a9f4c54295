/// The last registration of one `@Register`, and the way to replace it.
final class Declared<Value: Sendable>: @unchecked Sendable {
  // Guarded by `lock`.
  private var read: @Sendable () -> Value
  private let lock = InjectLock()
  private let register: @Sendable (Value) -> Void

  /// Registers a value or a builder.
  init(_ value: Value, register: @escaping @Sendable (Value) -> Void) {
    read = { value }
    self.register = register
    register(value)
  }

  /// An existing registration, which is resolved when it is read.
  init(lazy read: @escaping @Sendable () -> Value, register: @escaping @Sendable (Value) -> Void) {
    self.read = read
    self.register = register
  }

  /// The registered value or builder; for a lazy one, its resolved value.
  var value: Value {
    // A builder may run, so no lock is held.
    let read = lock.withLock { self.read }
    return read()
  }

  /// Registers another value or builder in the place of the last one.
  func replace(_ value: Value) {
    register(value)
    let last = lock.withLock {
      defer { read = { value } }
      return read
    }
    withExtendedLifetime(last) {}  // its deinit may be the caller's code
  }
}
