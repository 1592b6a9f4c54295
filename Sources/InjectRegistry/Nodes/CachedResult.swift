/// The result of a node's search: an instance, or a builder of new ones.
@safe @usableFromInline
class CachedResult: @unchecked Sendable {
  // Never changes.
  /// The address of the instance; nil for a builder.
  @usableFromInline let place: UnsafeRawPointer?
  /// Whether readers may get it without a lock; it is then never released.
  let isPublishable: Bool

  init(_ place: UnsafeRawPointer?, isPublishable: Bool) {
    unsafe self.place = place
    self.isPublishable = isPublishable
  }
}

/// An instance in memory that stays where it is, for readers that take no lock.
@safe
final class Instance<Dependency: Sendable>: CachedResult, @unchecked Sendable {
  // Written only in `init` and `deinit`.
  private let pointer: UnsafeMutablePointer<Dependency>

  init(_ instance: Dependency, isPublishable: Bool) {
    unsafe pointer = CacheLine.allocate(instance)
    unsafe super.init(UnsafeRawPointer(pointer), isPublishable: isPublishable)
  }

  deinit {
    unsafe UnsafeMutableRawPointer(pointer.deinitialize(count: 1)).deallocate()
  }
}

/// A builder whose instance is new at every read.
@usableFromInline
final class Fresh<Dependency: Sendable>: CachedResult, @unchecked Sendable {
  // Adds only constants.
  private let registration: AnyRegistration
  @usableFromInline let builder: @Sendable () throws -> Dependency

  init(_ registration: AnyRegistration, _ builder: @escaping @Sendable () throws -> Dependency) {
    self.registration = registration
    self.builder = builder
    unsafe super.init(nil, isPublishable: false)
  }

  /// A new instance; only if no builder runs around the caller.
  // Inlinable, because it costs four times as much through unspecialised generics: `make bench`.
  @inlinable
  func make() throws -> Dependency {
    var frame = frame
    return try unsafe withUnsafeMutablePointer(to: &frame) { frame in
      unsafe Frame.top = frame
      defer { unsafe Frame.top = nil }
      return try builder()
    }
  }

  @usableFromInline var frame: Frame {
    unsafe Frame(parent: nil, task: nil, registration: registration, build: nil)
  }

  /// The error for the caller if the builder fails.
  func failure(_ error: any Error, _ subject: InjectError.Subject) -> InjectError {
    .of(error, subject, path: [registration.name], registration)
  }
}
