import SecurePropertyStorage
import StorageTesting
import Testing

@testable import Forge

/// Each test has its own vault, in memory.
@Suite(.storage()) struct ForgeTests {
  @Test func aLoginIsThereForTheNextCommand() throws {
    try Forge.run(["login", "code.example", "--user", "ada"]) { _ in "tok-1" }
    #expect(try Accounts().token("code.example") == "tok-1")
    #expect(try Accounts().all().map(\.host) == ["code.example"])
    #expect(try Accounts().all().map(\.account.user) == ["ada"])
  }

  @Test func aLogoutTakesTheTokenAlongAndNoOthers() throws {
    for host in ["a.example", "b.example"] {
      try Accounts().logIn(host, Account(user: "ada"), token: "tok-" + host)
    }
    #expect(try Accounts().logOut("a.example"))
    #expect(try Accounts().token("a.example") == nil)
    #expect(try Accounts().token("b.example") == "tok-b.example")
    #expect(try !Accounts().logOut("a.example"))
  }

  @Test(arguments: [nil, ""]) func withoutATokenNothingIsStored(_ input: String?) throws {
    #expect(throws: Forge.Mistake.self) {
      try Forge.run(["login", "code.example", "--user", "ada"]) { _ in input }
    }
    #expect(try Accounts().all().isEmpty)
  }

  @Test(arguments: [[], ["login"], ["token"], ["logout", "a", "b"], ["login", "h", "--user"]])
  func anythingElseIsTheUsage(_ arguments: [String]) {
    #expect(throws: Forge.Mistake.self) { try Forge.run(arguments) { _ in nil } }
  }

  @Test func ofATokenForAnotherHostNothingIsTold() throws {
    try Accounts().logIn("a.example", Account(user: "ada"), token: "tok-a")
    #expect(throws: Forge.Mistake.self) { try Forge.run(["token", "b.example"]) { _ in nil } }
  }
}
