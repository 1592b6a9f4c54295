import SecurePropertyStorage

/// The settings of a service.
public struct Settings: Sendable {
  /// How often it was launched.
  @UnwrappedVault("launches") public var launches = 0
  /// The look of its pages.
  @UserDefault("theme") public var theme: String?
  /// What all of the service uses.
  public static let shared = Settings()
  /// Settings of a part of the service.
  public init() {}

  /// Counts a launch.
  public func launch() throws -> Int {
    try $launches.update {
      $0 += 1
      return $0
    }
  }
}
