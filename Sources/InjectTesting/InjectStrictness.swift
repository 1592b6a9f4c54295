/// Which registrations a test may use besides its own doubles.
public struct InjectStrictness: Hashable, Sendable {
  let isStrict: Bool

  /// The test may use the program's registrations; builders make instances for this test only.
  public static let lenient = InjectStrictness(isStrict: false)
  /// The test fails at each injection of a dependency that it has not registered itself.
  public static let strict = InjectStrictness(isStrict: true)
}
