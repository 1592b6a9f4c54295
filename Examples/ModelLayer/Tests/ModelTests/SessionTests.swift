import Model
import Testing

#if os(Linux)
  import SecurePropertyStorage
  import StorageTesting
#endif

#if os(Linux)
  @Suite(.storage()) struct SessionTests {
    @Test func aNewSessionIsSignedOut() async {
      let session = await Session()
      #expect(await session.account == nil)
      #expect(await session.summary == "signed out, started 0 times")
    }

    @Test func theNextSessionReadsWhatOneStored() async {
      await Session().signIn(Account(name: "Ada", plan: "team"), token: "rt-5f1c8e")
      await Session().launch()
      let session = await Session()
      #expect(await session.account == Account(name: "Ada", plan: "team"))
      #expect(await session.refreshToken == "rt-5f1c8e")
      #expect(await session.summary == "Ada, plan team, started 1 times")
    }

    @Test func signingOutRemovesTheTokenAndKeepsTheCount() async throws {
      await Session().signIn(Account(name: "Ada", plan: "team"), token: "rt-5f1c8e")
      await Session().launch()
      await Session().signOut()
      #expect(await Session().summary == "signed out, started 1 times")
      #expect(try VaultStorage.standard.keys() == [])
    }
  }
#endif
