/// Tells providers apart: equal identities lead to the same data.
struct ProviderIdentity: Hashable, @unchecked Sendable {
  private enum Kind: Hashable {
    /// A provider that says itself what it is equal to.
    case value(AnyHashable)
    case object(ObjectIdentifier)
    case type(ObjectIdentifier)
  }
  // Sendable: the only content that might not be is a provider, and providers are.
  private let kind: Kind

  /// The identity of a provider; nil if the package can't know which others are the same.
  init?(of provider: any KeychainProvider) {
    let type = type(of: provider)
    if let value = provider as? any Hashable {
      kind = .value(AnyHashable(value))
    } else if type is AnyClass {
      kind = .object(ObjectIdentifier(provider as AnyObject))
    } else if Self.isStateless(provider) {
      // Two values of such a type can't differ.
      kind = .type(ObjectIdentifier(type))
    } else {
      return nil
    }
  }

  private static func isStateless(_ provider: some KeychainProvider) -> Bool {
    MemoryLayout.size(ofValue: provider) == 0
  }
}
