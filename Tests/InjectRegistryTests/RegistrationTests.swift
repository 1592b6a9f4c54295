import InjectRegistry
import Testing

@Suite(.ownRegistry) struct RegistrationTests {
  @Test func aRegisteredValueIsEvaluatedAtOnceAndALazyOneWhenItIsNeeded() {
    let (eager, lazy) = (Counter(), Counter())
    @Sendable func make(_ counter: Counter) -> Client {
      counter.add()
      return Client()
    }
    @Register var now: any API = make(eager)
    @Register(.lazy) var later = make(lazy)
    #expect(eager.value == 1 && lazy.value == 0)
    @UnwrappedInject var injected: Client
    #expect(injected === later && injected === injected)
    #expect(eager.value == 1 && lazy.value == 1)
  }

  @Test func anInstanceIsNewAtEveryRead() throws {
    @Register var client = { Client() }
    @UnwrappedInject(.instance) var injected: Client
    @UnwrappedInject var shared: Client
    #expect(injected !== injected && injected !== shared && shared === shared)
    let storage = InjectStorage.standard
    #expect(try storage.resolve(Client.self, scope: .instance) !== shared)
    #expect(try storage.resolve(Client.self) === shared)
  }

  @Test func anObjectThatWasRegisteredIsNotTheNewInstanceThatIsAskedFor() {
    @Register var client = Client()
    @Register var animal: any Animal = Tabby()
    @Inject(.instance) var injected: Client?
    @Inject(.instance) var value: (any Animal)?
    let error = #expect(throws: InjectError.self) { try $injected.resolve() }
    #expect(error?.code == .wrongScope)
    #expect(value?.sound == "meow")
  }

  @Test func parametersAreHandedToTheBuilderThatTakesTheirType() throws {
    struct Retries: Sendable { var count: Int }
    struct Label: Sendable { var text: String }
    @Register var byCount = { (retries: Retries) in Client("\(retries.count)") as any API }
    @Register var byLabel = { (label: Label) throws in Client(label.text) as any API }
    @Inject(Retries(count: 3)) var three: (any API)?
    @UnwrappedInjectWith(Retries(count: 4)) var four: any API
    @InjectWith(Label(text: "five")) var five: (any API)?
    @UnwrappedInject(Retries(count: 6)) var six: any API
    #expect([three?.name, four.name, five?.name, six.name] == ["3", "4", "five", "6"])
    @Inject var plain: (any API)?
    let error = #expect(throws: InjectError.self) { try $plain.resolve() }
    #expect(error?.code == .notFound)
    #expect(error?.description.contains("takes parameters") == true)
    @InjectWith("text") var none: (any API)?
    #expect(throws: InjectError.self) { try $none.resolve() }
  }

  @Test func registeringAtTheSamePlaceAgainReplaces() throws {
    for name in ["first", "second"] {
      @Register var api: any API = Client(name)
    }
    #expect(try InjectStorage.standard.resolve((any API).self).name == "second")
    #expect(try InjectStorage.standard.resolveAll((any API).self).count == 1)
  }

  @Test func aFunctionRegistersThroughItsParameter() throws {
    enum Module {
      static func register(@Register api: any API = Client("parameter")) {}
      static func register(in _: Int, @Register(group: "shop") api: any API = Client("group")) {}
    }
    Module.register()
    Module.register()
    Module.register(in: 1)
    #expect(try InjectStorage.standard.resolve((any API).self).name == "parameter")
    #expect(try InjectStorage.standard.resolve((any API).self, group: "shop").name == "group")
    Module.register(api: Client("argument"))
    #expect(try InjectStorage.standard.resolve((any API).self).name == "argument")
  }

  @Test func whatIsReplacedIsGivenUp() throws {
    let storage = InjectStorage()
    weak var first: Client?
    weak var second: Client?
    for round in 0..<3 {
      storage.register { Client("\(round)") }
      let client = try storage.resolve(Client.self)
      if round == 0 { first = client } else if round == 1 { second = client }
      #expect(client.name == "\(round)")
    }
    #expect(first == nil && second == nil)
  }

  @Test func ofWhatIsReadOftenAtMostOneInstanceOutlivesItsRegistration() throws {
    let storage = InjectStorage()
    var kept: [() -> Client?] = []
    for round in 0..<5 {
      storage.register { Client("\(round)") }
      for _ in 0..<1_000 { #expect(try storage.resolve(Client.self).name == "\(round)") }
      weak let client = try storage.resolve(Client.self)
      kept.append { client }
    }
    // The last one is current. One may have been read without a lock, and is kept with the storage;
    // not where other tests have overrides, which take every read through a lock.
    #expect(kept.last?() != nil)
    #expect(kept.dropLast().count { $0() != nil } <= 1)
  }

  @Test func theFunctionsOfAStorageRegisterAsTheWrappersDo() async throws {
    let storage = InjectStorage()
    storage.register(Client("value") as any API)
    storage.register(Tabby() as any Animal, group: "cats")
    storage.register(scope: .instance) { Client("builder") }
    storage.register { (text: String) in Refused(text) }
    storage.register { () async -> Counter in Counter() }
    #expect(try storage.resolve((any API).self).name == "value")
    #expect(try storage.resolve((any Animal).self, group: "cats").sound == "meow")
    #expect(try storage.resolve(Client.self) !== storage.resolve(Client.self))
    #expect(try storage.resolve(Refused.self, with: "text").description == "text")
    let counter = try await storage.resolveAsync(Counter.self)
    #expect(try storage.resolve(Counter.self) === counter)
  }
}
