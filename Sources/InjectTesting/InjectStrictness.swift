/// What a test may use besides its own doubles.
public struct InjectStrictness: Hashable, Sendable {
  let isStrict: Bool

  /// What the program registers may be used; builders make instances for the test alone.
  public static let lenient = InjectStrictness(isStrict: false)
  /// The test fails at each injection of what it has not registered itself.
  public static let strict = InjectStrictness(isStrict: true)
}
