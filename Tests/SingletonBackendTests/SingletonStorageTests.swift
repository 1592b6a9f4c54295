import CryptoCore
import Foundation
import SingletonBackend
import StorageCore
import TestSupport
import Testing

@Suite struct SingletonStorageTests {
  @Test func twoStoragesShareNothing() throws {
    let (one, other) = (SingletonStorage(), SingletonStorage())
    try one.save(1, forKey: "k")
    #expect(try other.load(Int.self, forKey: "k") == nil)
    #expect(try other.keys().isEmpty)
  }

  @Test func theStandardStorageIsOne() throws {
    let key = "standard-\(UUID())"
    #expect(SingletonStorage.standard === SingletonStorage.standard)
    try SingletonStorage.standard.save(1, forKey: key)
    #expect(try SingletonStorage.standard.load(forKey: key) == 1)
    try SingletonStorage.standard.delete(forKey: key)
  }

  @Test func aDelegateOfAnotherStorageStaysShut() throws {
    let delegate = SingletonStorageDelegate()
    try SingletonStorage(delegate).save("kept", forKey: "k")
    // Each storage has a key of its own.
    let other = SingletonStorage(delegate)
    #expect(throws: StorageError.self) { try other.load(String.self, forKey: "k") }
    #expect(throws: StorageError.self) { try other.save("new", forKey: "k") }
  }

  @Test func aCopiedAuthenticationTagMatters() throws {
    let delegate = SingletonStorageDelegate()
    let storage = SingletonStorage(delegate, authenticationTag: Data([1]))
    try storage.save("kept", forKey: "k")
    #expect(try storage.load(forKey: "k") == "kept")
  }

  @Test func whatIsHeldIsCiphertext() throws {
    let marker = "VALUE-marker-one"
    let delegate = SingletonStorageDelegate()
    let storage = SingletonStorage(delegate)
    try storage.save(marker, forKey: "NAME-marker-two")
    for subject in [delegate, storage] as [Any] {
      for text in Disclosure.texts(of: subject) {
        // In a list of bytes too; a shorter run would be found in ciphertext by chance.
        #expect(!text.contains("marker"))
        #expect(!text.contains(Array("marker".utf8).map(String.init).joined(separator: ", ")))
      }
    }
  }
}
