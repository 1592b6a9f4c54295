import KeyringTesting

/// The presets, for tests that hold for each of them.
enum Preset: CaseIterable {
  case specification
  case gnomeKeyring
  case keePassXC
  case kWallet

  var manners: FakeSecretService.Manners {
    switch self {
    case .specification: FakeSecretService.Manners()
    case .gnomeKeyring: .gnomeKeyring
    case .keePassXC: .keePassXC
    case .kWallet: .kWallet
    }
  }
}
