import Foundation
import StorageCore
import StorageTesting
import TestSupport
import Testing

// The code of the guide "Changing stored types", compiled here and run; that it is the same code, a
// test looks.

private enum First {
  struct Account: Codable {
    var name: String
    var plan: String
    var timeout: Int
  }

  static let account = Account(name: "Ada", plan: "team", timeout: 30)
}

private enum Added {
  struct Account: Codable {
    var name: String
    var email: String?
    var retries = 3

    init(from decoder: any Decoder) throws {
      let values = try decoder.container(keyedBy: CodingKeys.self)
      name = try values.decode(String.self, forKey: .name)
      email = try values.decodeIfPresent(String.self, forKey: .email)
      retries = try values.decodeIfPresent(Int.self, forKey: .retries) ?? 3
    }
  }
}

private enum Renamed {
  struct Account: Codable {
    var fullName: String
    var plan: String

    enum CodingKeys: String, CodingKey {
      case fullName = "name"
      case plan
    }
  }
}

private enum Retyped {
  struct Account: Codable {
    var name: String
    var timeout: Double

    init(from decoder: any Decoder) throws {
      let values = try decoder.container(keyedBy: CodingKeys.self)
      name = try values.decode(String.self, forKey: .name)
      do {
        timeout = try values.decode(Double.self, forKey: .timeout)
      } catch DecodingError.typeMismatch {
        let text = try values.decode(String.self, forKey: .timeout)
        guard let seconds = Double(text) else {
          throw DecodingError.dataCorruptedError(
            forKey: .timeout, in: values, debugDescription: "it is no number")
        }
        timeout = seconds
      }
    }
  }
}

private func convertLaunches(in storage: some Storage) throws {
  try storage.transaction { transaction in
    do {
      guard let old = try transaction.load(Int.self, forKey: "launches") else { return }
      try transaction.save(String(old), forKey: "launches")
    } catch let error as StorageError where error.code == .typeMismatch {
      return  // it is converted already
    }
  }
}

private func renameToken(in storage: some Storage) throws {
  try storage.transaction { transaction in
    guard let token = try transaction.load(String.self, forKey: "token") else { return }
    try transaction.save(token, forKey: "refresh-token")
    try transaction.delete(forKey: "token")
  }
}

private func requireReadable(_ property: some StoredProperty) throws {
  if case .failed(let error) = property.state { throw error }
}

private typealias Account = Added.Account

private struct Version1: Codable { var name = "Ada", plan = "team", timeout = 30 }

private func accountOfVersion1(in storage: some Storage) throws -> Account? {
  try storage.save(Version1(), forKey: "account")
  return try storage.load(Account.self, forKey: "account")
}

@Suite struct ChangingStoredTypesTests {
  private let storage = InMemoryStorage()

  @Test func whatTheGuideShowsIsWhatIsCompiledHere() throws {
    let guide = try GuideCode("StorageCore/ChangingStoredTypes")
    #expect(guide.blocks.count == 8)
    #expect(try guide.blocks(missingIn: #filePath) == [])
  }

  @Test func anAddedFieldIsNilOrItsDefaultInWhatWasStoredBefore() throws {
    try storage.save(First.account, forKey: "account")
    let account = try #require(try storage.load(Added.Account.self, forKey: "account"))
    #expect(account.name == "Ada" && account.email == nil && account.retries == 3)
    #expect(try accountOfVersion1(in: storage)?.retries == 3)
  }

  @Test func anAddedFieldThatIsDamagedIsAnErrorAndNotItsDefault() throws {
    try storage.save(["name": "Ada", "retries": "many"], forKey: "damaged")
    struct Damaged: Codable { var name = "Ada", retries = "many" }
    try storage.save(Damaged(), forKey: "account")
    let failure = error { _ = try storage.load(Added.Account.self, forKey: "account") }
    #expect(failure?.message.contains("\"retries\" is not of type Int") == true)
  }

  @Test func aRenamedFieldIsReadUnderItsStoredName() throws {
    try storage.save(First.account, forKey: "account")
    let account = try #require(try storage.load(Renamed.Account.self, forKey: "account"))
    #expect(account.fullName == "Ada" && account.plan == "team")
    try storage.save(account, forKey: "account")
    struct OldFields: Codable { var name: String }
    #expect(try storage.load(OldFields.self, forKey: "account")?.name == "Ada")
  }

  @Test func aRetypedFieldIsReadInEitherType() throws {
    struct Texts: Codable { var name = "Ada", timeout: String }
    try storage.save(First.account, forKey: "account")
    #expect(try storage.load(Retyped.Account.self, forKey: "account")?.timeout == 30)
    try storage.save(Texts(timeout: "2.5"), forKey: "account")
    #expect(try storage.load(Retyped.Account.self, forKey: "account")?.timeout == 2.5)
    try storage.save(Texts(timeout: "soon"), forKey: "account")
    let failure = error { _ = try storage.load(Retyped.Account.self, forKey: "account") }
    #expect(failure?.message.contains("\"timeout\" is a value that this version") == true)
    #expect(failure?.message.contains("soon") == false)
  }

  @Test func aRetypedPropertyIsConvertedOnce() throws {
    try storage.save(7, forKey: "launches")
    for _ in 1...2 { try convertLaunches(in: storage) }
    #expect(try storage.load(String.self, forKey: "launches") == "7")
  }

  @Test func aRenamedPropertyMovesAndIsLeftWhereItWas() throws {
    try storage.save("abc", forKey: "token")
    for _ in 1...2 { try renameToken(in: storage) }
    #expect(try storage.load(String.self, forKey: "refresh-token") == "abc")
    #expect(try !storage.contains("token"))
  }

  @Test func aDefaultDoesNotReplaceWhatDoesNotDecode() throws {
    struct Other: Codable { var email = "a@example.com" }
    try storage.save(First.account, forKey: "account")
    storage.errorClosure = { _ in }
    @UnwrappedCodableStore(storage, "account") var account = Other()
    #expect(code { try requireReadable($account) } == .typeMismatch)
    account.email = "b@example.com"
    #expect(try storage.load(First.Account.self, forKey: "account")?.name == "Ada")
    try $account.save(Other())
    try requireReadable($account)
    #expect(account.email == "a@example.com")
  }
}
