import Model

#if os(Linux)
  import SecurePropertyStorage
#endif

/// The Linux program over the model that the app has, too.
@main struct Server {
  static func main() async {
    #if os(Linux)
      SecureStorage.bootstrap(applicationID: "org.example.model-layer")
    #endif
    let session = await Session()
    await session.launch()
    switch CommandLine.arguments.dropFirst().first {
    case "sign-in":
      guard let token = readLine() else { return print("type the token") }
      await session.signIn(Account(name: "Ada", plan: "team"), token: token)
    case "sign-out": await session.signOut()
    default: break
    }
    print(await session.summary)
  }
}
