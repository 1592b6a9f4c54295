import Foundation
import KeyringBackend
import StorageCore
import Testing

@Suite struct LimitTests {
  @Test func aValueOfAMebibyteIsKeptAndAMuchLongerOneIsInvalid() throws {
    let desktop = try Desktop()
    let storage = desktop.storage(service: Desktop.freshService())
    let value = Data(repeating: 7, count: 1 << 20)
    try storage.save(value, forKey: "k")
    let longer = Data(repeating: 8, count: (1 << 20) + (1 << 16))
    #expect(code { try storage.save(longer, forKey: "k") } == .invalid)
    #expect(try storage.load(forKey: "k") == value)
  }
}
