/// The body of a declaration that is `@available(*, unavailable)`.
///
/// Such a declaration only carries the compiler's message. It needs a body that returns nothing,
/// which never runs: the compiler refuses every call.
package func refusedByTheCompiler() -> Never {
  preconditionFailure("the compiler refuses every call of this")
}
