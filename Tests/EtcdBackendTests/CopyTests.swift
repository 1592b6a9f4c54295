import EtcdBackend
import Foundation
import RemoteTesting
import StorageTesting
import Testing
import VaultBackend

/// The copy of a store that a machine keeps, in a vault.
struct CopyTests {
  @Test(arguments: CopyPromise.allCases)
  func aCopyKeeps(_ promise: CopyPromise) throws { try promise.check(over: EtcdCluster()) }

  @Test func anotherClusterAtTheSameAddressIsAnErrorAtTheStart() throws {
    let cluster = try EtcdCluster()
    let copy = VaultStorage(
      at: cluster.folder.appendingPathComponent("machine/copy.vault"),
      keySource: .key(SymmetricKey(data: Data(repeating: 9, count: 32))))
    try cluster.storage().create()
    try cluster.store("t", 55, copy: copy).refresh()
    try cluster.startAnew()
    try cluster.storage().create()
    #expect(code { try cluster.store("t", 55, copy: copy).open() } == .damaged)
  }
}
