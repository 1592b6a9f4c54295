import SecurePropertyStorage
import StorageTesting
import Testing

private protocol Greeting: Sendable { var text: String { get } }
private struct Hello: Greeting { let text: String }

@Suite(.storage()) struct BlockingCallsTests {
  @Test func overridesAndTheStoresOfATestApplyInside() async throws {
    let greeting = try await InjectStorage.withOverrides {
      InjectStorage.standard.register(Hello(text: "double") as any Greeting)
      return try await VaultStorage.standard.async { vault in
        let text = try InjectStorage.standard.resolve((any Greeting).self).text
        try vault.save(text, forKey: "greeting")
        return text
      }
    }
    #expect(greeting == "double")
    let names = try await SecureStorage.async { try VaultStorage.standard.keys() }
    #expect(names == ["greeting"])
  }
}
