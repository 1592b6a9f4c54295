import Foundation
import SingletonBackend
import StorageCore
import Testing

/// The family of the standard storage; its keys are this suite's own.
@Suite struct SingletonWrapperTests {
  private enum Key: String {
    case token = "wrapper-tests.token"
    case defaulted = "wrapper-tests.defaulted"
    case codable = "wrapper-tests.codable"
    case codableDefault = "wrapper-tests.codable-default"
    case unwrapped = "wrapper-tests.unwrapped"
    case unwrappedCodable = "wrapper-tests.unwrapped-codable"
  }

  private struct User: Codable, Equatable, Sendable {
    var name = "Ada"
  }

  private struct Cases {
    @Singleton(Key.token) var token: String?
    @Singleton(Key.defaulted) var defaulted = "eu"
    @CodableSingleton(Key.codable) var codable: User?
    @CodableSingleton(Key.codableDefault) var codableDefault = User(name: "root")
    @UnwrappedSingleton(Key.unwrapped) var unwrapped = 0
    @UnwrappedCodableSingleton(Key.unwrappedCodable) var unwrappedCodable = User(name: "guest")
  }

  @Test func propertiesOfEnumerationKeys() {
    let cases = Cases()
    #expect(cases.token == nil && cases.defaulted == "eu" && cases.codable == nil)
    #expect(cases.codableDefault == User(name: "root") && cases.unwrapped == 0)
    #expect(cases.unwrappedCodable == User(name: "guest"))
    cases.token = "abc"
    cases.unwrapped = 5
    #expect(SingletonStorage.standard.string(forKey: Key.token.rawValue) == "abc")
    #expect(Cases().unwrapped == 5)
    #expect(cases.$token.key == Key.token.rawValue)
  }
}
