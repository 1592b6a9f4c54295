internal import Glibc

/// Finds calls that would break an outer call of the same thread.
///
/// A body that changes a value may write to that value itself: it would start over for ever. The
/// key source of a store may read that store, and a provider the storage that it serves: each would
/// wait for itself. All are found at the inner call, which throws `invalid`.
package enum Reentry {
  /// A call that runs code of the program.
  @unsafe private struct Frame {
    let outer: UnsafeMutablePointer<Frame>?
    let place: AnyHashable
    let title: String
    /// Whether the call depends on a name; nil means any name.
    let dependsOn: (String?) -> Bool
  }

  /// The thread-specific address of the innermost frame; null while there is none.
  private static let innermost: pthread_key_t = {
    var key = pthread_key_t()
    let result = unsafe pthread_key_create(&key, nil)
    precondition(result == 0, "pthread_key_create failed with errno \(result)")
    return key
  }()

  private static var top: UnsafeMutablePointer<Frame>? {
    unsafe pthread_getspecific(innermost)?.assumingMemoryBound(to: Frame.self)
  }

  /// Runs `body`, which may be code of the program, as part of a call.
  ///
  /// - Parameters:
  ///   - place: identifies what the call works on.
  ///   - title: names the call in an error, for example `update of "count"`.
  ///   - dependsOn: whether the call would break if the value of a name changed now; it is given
  ///     nil for a change of all names.
  ///   - body: the code to run.
  /// - Returns: what `body` returns.
  /// - Throws: what `body` throws.
  package static func during<Result, Failure: Error>(
    _ place: AnyHashable, _ title: String, dependsOn: (String?) -> Bool = { _ in true },
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try withoutActuallyEscaping(dependsOn) { (dependsOn) throws(Failure) in
      var frame = unsafe Frame(outer: top, place: place, title: title, dependsOn: dependsOn)
      return try unsafe withUnsafeMutablePointer(to: &frame) { (pointer) throws(Failure) in
        unsafe pthread_setspecific(innermost, pointer)
        // The frames are local variables of calls further up on this thread's stack.
        defer { unsafe pthread_setspecific(innermost, pointer.pointee.outer) }
        return try body()
      }
    }
  }

  /// Whether this thread runs any such call.
  @inline(__always)
  package static var isPossible: Bool { unsafe pthread_getspecific(innermost) != nil }

  /// The title of a call of this thread that works on `place` and depends on `name`.
  ///
  /// - Parameters:
  ///   - place: identifies what the call works on.
  ///   - name: the name; nil for all names.
  /// - Returns: the title, or nil when there is no such call.
  package static func caller(on place: AnyHashable, dependingOn name: String?) -> String? {
    var next = unsafe top
    while let frame = unsafe next {
      if unsafe frame.pointee.place == place, unsafe frame.pointee.dependsOn(name) {
        return unsafe frame.pointee.title
      }
      unsafe next = frame.pointee.outer
    }
    return nil
  }

  /// The titles of all such calls of this thread, the innermost first.
  static var titles: [String] {
    var titles: [String] = []
    var next = unsafe top
    while let frame = unsafe next {
      unsafe titles.append(frame.pointee.title)
      unsafe next = frame.pointee.outer
    }
    return titles
  }

  /// Throws `invalid` if this thread runs a call that a write of `name` would break.
  ///
  /// - Parameters:
  ///   - place: identifies where the write goes.
  ///   - name: the name that is written; nil for all names.
  ///   - title: names the write in the error.
  /// - Throws: `StorageError`: `invalid`.
  @inline(__always)
  package static func checkWrite(
    to place: @autoclosure () -> AnyHashable, _ name: String?, _ title: @autoclosure () -> String
  ) throws(StorageError) {
    guard isPossible, let caller = caller(on: place(), dependingOn: name) else { return }
    throw StorageError(
      .invalid,
      "\(title()) was called inside the \(caller) that it would break: the outer call would start "
        + "over for ever. Change what the outer body was given instead, or write after it has "
        + "returned", key: name)
  }
}
