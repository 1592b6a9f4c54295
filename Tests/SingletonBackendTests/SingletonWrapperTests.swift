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

  private struct Texts {
    @Singleton("texts.token") var token: String?
    @Singleton("texts.region") var region = "eu"
    @CodableSingleton("texts.user") var user: User?
    @CodableSingleton("texts.admin") var admin = User(name: "root")
    @UnwrappedSingleton("texts.attempts") var attempts = 0
    @UnwrappedCodableSingleton("texts.guest") var guest = User(name: "guest")
  }

  private struct Cases {
    @Singleton(Key.token) var token: String?
    @Singleton(Key.defaulted) var defaulted = "eu"
    @CodableSingleton(Key.codable) var codable: User?
    @CodableSingleton(Key.codableDefault) var codableDefault = User(name: "root")
    @UnwrappedSingleton(Key.unwrapped) var unwrapped = 0
    @UnwrappedCodableSingleton(Key.unwrappedCodable) var unwrappedCodable = User(name: "guest")
  }

  private actor Session {
    @Singleton("session.token") var token: String?
    @UnwrappedSingleton("session.count") var count = 0

    func use() -> Int {
      token = "used"
      count += 1
      return count
    }
  }

  @MainActor private final class Model {
    @UnwrappedSingleton("model.title") var title = "untitled"
  }

  @Test func propertiesOfTextKeys() throws {
    let texts = Texts()
    let region: String? = texts.region
    #expect(texts.token == nil && region == "eu" && texts.user == nil)
    #expect(texts.admin == User(name: "root") && texts.attempts == 0)
    texts.token = "abc"
    texts.attempts += 1
    texts.user = User()
    texts.guest.name = "changed"
    let again = Texts()
    #expect(again.token == "abc" && again.attempts == 1)
    #expect(again.user == User() && again.guest.name == "changed")
    texts.token = nil
    texts.user = nil
    #expect(again.token == nil && again.user == nil)
    #expect(try SingletonStorage.standard.load(forKey: "texts.region") == "eu")
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

  @Test func anActorAndTheMainActorKeepTheirs() async {
    let session = Session()
    #expect(await session.use() == 1)
    #expect(await Session().use() == 2)
    await MainActor.run {
      let model = Model()
      model.title = "a title"
      #expect(Model().title == "a title")
    }
  }

  @Test func aLocalVariableAndAnExplicitStorage() {
    @Singleton("local.token") var token: String?
    token = "abc"
    let storage = SingletonStorage()
    @Store(storage, "local.token") var own: String?
    #expect(token == "abc" && own == nil)
  }
}
