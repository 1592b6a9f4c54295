import Foundation
import StorageTesting
import Testing
import VaultBackend

@Suite struct VaultDelegateTests {
  @Test(arguments: DelegatePromise.all(of: VaultDelegate.self))
  func aVaultKeepsIts(_ promise: DelegatePromise) throws {
    try promise.check { TemporaryVault().delegate() }
  }

  @Test func valuesComeBackFromTheFile() throws {
    let vault = TemporaryVault()
    try vault.storage().save("secret", forKey: "token")
    #expect(try vault.storage().load(String.self, forKey: "token") == "secret")
  }
}
