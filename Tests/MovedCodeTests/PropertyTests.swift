import Foundation
import SecurePropertyStorage
import StorageTesting
import Testing

// Properties as code of the Apple package declares them, after its imports were changed. That they
// compile is half of the test.

private enum Names {
  static let harbour = "moved.harbour"
  static let pilot = "moved.pilot"
}

private struct Berth: Codable, Equatable {
  var pier: String
  var depth: Double?
}

private class HarbourOffice {
  @UserDefault(Names.harbour) var harbour: String?
  @UserDefault("moved.tide") var tide: Double? = 1.25
  @Keychain(Names.pilot) var pilotCode: String?
  @Keychain("moved.pilot.default") var spareCode: String? = "0000"
  @Singleton("moved.channel") var channel: Int?
  @Singleton("moved.channel.default") var spareChannel: Int? = 16

  @CodableUserDefault("moved.berth.defaults") var berthOnFile: Berth?
  @CodableKeychain("moved.berth.keychain") var berthOfHonour: Berth?
  @CodableSingleton("moved.berth.memory") var berth: Berth? = Berth(pier: "A")

  @UnwrappedUserDefault("moved.ferries") var ferries = 3
  @UnwrappedKeychain("moved.alarm") var alarm = "horn"
  @UnwrappedSingleton("moved.open") var isOpen = true

  @UnwrappedCodableUserDefault("moved.next.defaults") var nextOnFile = Berth(pier: "B")
  @UnwrappedCodableKeychain("moved.next.keychain") var nextOfHonour = Berth(pier: "C")
  @UnwrappedCodableSingleton("moved.next.memory") var next = Berth(pier: "D", depth: 9.5)
}

private let logbook = SingletonStorage()
private let tagged: DelegatedStorage = SingletonStorage(authenticationTag: Data("ferry".utf8))

private struct Logbook {
  @Store(logbook, "moved.entry") var entry: String?
  @Store(tagged, "moved.entry") var taggedEntry: String? = "none yet"
  @CodableStore(logbook, "moved.log.berth") var berth: Berth?
  @UnwrappedStore(logbook, "moved.entries") var entries = 0
  @UnwrappedCodableStore(tagged, "moved.log.next") var next = Berth(pier: "E")
}

@Suite(.storage()) struct MovedPropertyTests {
  @Test func anOptionalPropertyHoldsWhatWasAssigned() {
    let office = HarbourOffice()
    #expect(office.harbour == nil && office.pilotCode == nil && office.channel == nil)
    office.harbour = "North"
    office.pilotCode = "4711"
    office.channel = 12
    let other = HarbourOffice()
    #expect(other.harbour == "North" && other.pilotCode == "4711" && other.channel == 12)
    other.pilotCode = nil
    #expect(office.pilotCode == nil)
  }

  @Test func aDefaultIsStoredOnce() {
    #expect(HarbourOffice().tide == 1.25)
    HarbourOffice().tide = 2
    HarbourOffice().spareCode = "1234"
    HarbourOffice().spareChannel = 9
    // There, each start wrote the default over what was stored.
    let office = HarbourOffice()
    #expect(office.tide == 2 && office.spareCode == "1234" && office.spareChannel == 9)
  }

  @Test func codablePropertiesHoldModels() {
    let office = HarbourOffice()
    #expect(office.berth == Berth(pier: "A") && office.berthOnFile == nil)
    office.berthOnFile = Berth(pier: "F", depth: 4)
    office.berthOfHonour = Berth(pier: "G")
    #expect(HarbourOffice().berthOnFile?.depth == 4 && HarbourOffice().berthOfHonour?.pier == "G")
  }

  @Test func unwrappedPropertiesAlwaysHaveAValue() {
    let office = HarbourOffice()
    #expect(office.ferries == 3 && office.alarm == "horn" && office.isOpen)
    office.ferries += 1
    office.alarm = "bell"
    office.isOpen = false
    #expect(HarbourOffice().ferries == 4 && HarbourOffice().alarm == "bell")
    #expect(!HarbourOffice().isOpen)
    office.nextOnFile.pier = "H"
    office.nextOfHonour.depth = 3
    office.next = Berth(pier: "I")
    #expect(HarbourOffice().nextOnFile.pier == "H" && HarbourOffice().nextOfHonour.depth == 3)
    #expect(HarbourOffice().next == Berth(pier: "I"))
  }

  @Test func storesOfTheAppsOwnTakeTheSameForms() {
    let log = Logbook()
    #expect(log.entry == nil && log.taggedEntry == "none yet" && log.entries == 0)
    log.entry = "fog"
    log.entries += 2
    log.berth = Berth(pier: "J")
    log.next.depth = 8
    #expect(logbook.string(forKey: "moved.entry") == "fog" && Logbook().entries == 2)
    #expect(Logbook().berth?.pier == "J" && Logbook().next == Berth(pier: "E", depth: 8))
    #expect(tagged.string(forKey: "moved.entry") == "none yet")
  }
}
