import InjectRegistry
import Testing

@Suite(.ownRegistry) struct QualifierTests {
  private let owner = OwnStorage()
  private var storage: InjectStorage { owner.storage }

  @Test func aProtocolPicksTheClassTheStructAndTheActorThatConform() throws {
    @Register var terrier: any Animal = Terrier()
    @Register var tabby = { Tabby() as any Animal }
    @UnwrappedInject((any Dog).self) var dog: any Animal
    @UnwrappedInject((any Cat).self) var cat: any Animal
    #expect(dog.sound == "woof" && cat.sound == "meow")
    storage.register { Mastiff() as any Animal }
    storage.register(Tabby() as any Animal)
    #expect(try storage.resolve((any Animal).self, (any Dog).self) is Mastiff)
  }

  @Test func allQualifiersHaveToMatchInAnyOrderAndSpelling() throws {
    @Register var terrier: any Animal = Terrier()
    @Register var mastiff: any Animal = Mastiff()
    @Register var tabby: any Animal = Tabby()
    @Inject((any Dog).self, (any Small).self) var one: (any Animal)?
    @Inject((any Small).self, (any Dog).self) var two: (any Animal)?
    @Inject([(any Dog).self, (any Small).self]) var three: (any Animal)?
    @Inject([(any Cat).self]) var four: (any Animal)?
    @Inject((any Dog & Small).self) var five: (any Animal)?
    #expect([one, two, three, five].allSatisfy { $0 is Terrier } && four is Tabby)
    @Inject((any Dog).self, (any Cat).self) var none: (any Animal)?
    let error = #expect(throws: InjectError.self) { try $none.resolve() }
    #expect(error?.code == .notFound && error?.qualifiers.count == 2)
    #expect(error?.candidates.count == 3)
  }

  @Test func qualifiersChooseAmongBuildersWithParametersToo() {
    @Register var terrier = { (_: Int) in Terrier() as any Animal }
    @Register var tabby = { (_: Int) in Tabby() as any Animal }
    @InjectWith(1, (any Cat).self) var cat: (any Animal)?
    @UnwrappedInjectWith(1, (any Dog).self) var dog: any Animal
    #expect(cat is Tabby && dog is Terrier)
  }

  @Test func aTypeIsAQualifierToo() throws {
    @Register var terrier: any Animal = Terrier()
    @Register var tabby: any Animal = Tabby()
    @UnwrappedInject(Terrier.self) var dog: any Animal
    @UnwrappedInject(.singleton, Tabby.self) var cat: any Animal
    #expect(dog is Terrier && cat is Tabby)
  }

  @Test func aSingleRegistrationThatIsNotQualifiedIsNotGiven() {
    @Register var tabby: any Animal = Tabby()
    @Inject((any Dog).self) var dog: (any Animal)?
    let error = #expect(throws: InjectError.self) { try $dog.resolve() }
    #expect(error?.code == .notFound && error?.description.contains("it is not") == true)
  }

  @Test func severalThatNothingTellsApartAreAnError() {
    @Register var first: any API = Client("first")
    @Register var second: any API = Client("second")
    @Inject var api: (any API)?
    let error = #expect(throws: InjectError.self) { try $api.resolve() }
    #expect(error?.code == .moreThanOne && error?.candidates.count == 2)
    @Inject((any Dog).self) var dog: (any Animal)?
    @Register var terrier: any Animal = Terrier()
    @Register var mastiff: any Animal = Mastiff()
    #expect(throws: InjectError.self) { try $dog.resolve() }
  }

  @Test func aMockWinsWithinWhatMatches() throws {
    storage.register { Client() as any API }
    storage.register { MockClient() as any API }
    #expect(try storage.resolve((any API).self).name == "mock")
    // It does not match: a qualifier is looked at first.
    #expect(try storage.resolve((any API).self, Client.self).name == "live")
    storage.register { MockClient() as any API }
    #expect(throws: InjectError.self) { try storage.resolve((any API).self) }
    #expect(try storage.resolveAll((any API).self).count == 2)
  }

  @Test func aMockIsInjectedWhereTheLiveBuilderFails() throws {
    storage.register { () throws -> any API in throw Refused() }
    storage.register { MockClient() as any API }
    #expect(try storage.resolve((any API).self).name == "mock")
  }

  @Test func withoutAMockABuilderThatFailsIsNotPassedOver() {
    storage.register { () throws -> any API in throw Refused() }
    storage.register { Client() as any API }
    let error = #expect(throws: InjectError.self) { try storage.resolve((any API).self) }
    #expect(error?.code == .builderFailed)
  }

  @Test func whatCompetesIsBuiltOnceToLearnWhatItIs() throws {
    let (dogs, cats) = (Counter(), Counter())
    storage.register(scope: .instance) { () -> any Animal in
      dogs.add()
      return Terrier()
    }
    storage.register { () -> any Animal in
      cats.add()
      return Tabby()
    }
    for _ in 0..<3 {
      #expect(try storage.resolve((any Animal).self, (any Cat).self) is Tabby)
      #expect(throws: InjectError.self) { try storage.resolve((any Animal).self, (any Small).self) }
    }
    #expect(dogs.value == 1 && cats.value == 1)
  }

  @Test func aDecoratorInjectsWhatItDecorates() throws {
    struct Loud: Animal {
      let inner: any Animal
      var sound: String { inner.sound.uppercased() }
    }
    let storage = storage
    storage.register { Tabby() as any Animal }
    storage.register { Loud(inner: try storage.resolve((any Animal).self)) as any Animal }
    #expect(try storage.resolve((any Animal).self, Loud.self).sound == "MEOW")
    #expect(try storage.resolve((any Animal).self, Tabby.self).sound == "meow")
  }
}

@Suite(.ownRegistry) struct GroupTests {
  @Test func aGroupIsLookedIntoFirstAndThenTheGeneralRegistry() throws {
    @Register var general: any API = Client("general")
    @Register(group: "shop") var shop: any API = Client("shop")
    @Register(group: "shop") var animal = { Tabby() as any Animal }
    @Inject(group: "shop") var inShop: (any API)?
    @Inject(group: "zoo") var inZoo: (any API)?
    @Inject var outside: (any API)?
    @Inject((any Cat).self, group: "shop") var cat: (any Animal)?
    #expect([inShop?.name, inZoo?.name, outside?.name] == ["shop", "general", "general"])
    #expect(cat?.sound == "meow")
  }

  @Test func whatIsInAGroupAloneIsNotFoundOutsideIt() {
    @Register(group: "shop") var shop: any API = Client("shop")
    @Inject(group: "zoo") var inZoo: (any API)?
    let error = #expect(throws: InjectError.self) { try $inZoo.resolve() }
    #expect(error?.code == .notFound && error?.group == "zoo")
    #expect(error?.description.contains("in another group") == true)
  }

  @Test func aQualifierThatNothingInTheGroupHasIsLookedForInTheGeneralRegistry() throws {
    let storage = InjectStorage()
    storage.register(Tabby() as any Animal, group: "zoo")
    storage.register(Terrier() as any Animal)
    #expect(try storage.resolve((any Animal).self, (any Dog).self, group: "zoo") is Terrier)
    #expect(try storage.resolveAll((any Animal).self, group: "zoo").map(\.sound) == ["meow"])
  }
}
