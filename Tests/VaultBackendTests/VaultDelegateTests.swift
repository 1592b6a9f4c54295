import Foundation
import StorageTesting
import Testing
import VaultBackend

@Suite struct VaultDelegateTests {
  @Test(arguments: DelegatePromise.all(of: VaultDelegate.self))
  func aVaultKeepsIts(_ promise: DelegatePromise) throws {
    // Kept to the end: a delegate would make the folder of one that is gone anew.
    let vaults = Lock<[TemporaryVault]>([])
    try promise.check {
      let vault = TemporaryVault()
      vaults.withLock { $0.append(vault) }
      return vault.delegate()
    }
  }
}
