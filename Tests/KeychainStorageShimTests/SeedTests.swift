import Foundation
import KeychainStorageShim
import Observation
import StorageCore
import Synchronization
import Testing

// The examples of the package KeychainStorage: the import changed, and what is a view's taken away.

// swift-format-ignore: TypeNamesShouldBeCapitalized
enum myKeychainProvider {
  static let shared = MemoryKeychain()
}

struct WriterView {
  @KeychainStorage(provider: myKeychainProvider.shared, key: "someKey")
  private var someValue = false

  func toggle() { someValue.toggle() }
}

struct ReaderView {
  @KeychainStorage(provider: myKeychainProvider.shared, key: "someKey")
  private var someValue = false

  var text: String { "\(someValue)" }
}

/// Keeps nothing: then a property is shared in memory alone.
struct SimpleKeychain: KeychainProvider {
  func setData(_ data: Data, forKey key: String) -> Bool { true }
  func getData(forKey key: String) -> Data? { nil }
  func deleteData(forKey key: String) -> Bool { true }
}

struct OptionalReaderView {
  @KeychainStorage(keychainProvider: SimpleKeychain(), key: "someKey")
  private var someValue: Bool? = nil

  var text: String { someValue?.description ?? "No data" }
}

struct OptionalWriterView {
  @KeychainStorage(keychainProvider: SimpleKeychain(), key: "someKey")
  private var someValue: Bool? = nil

  func toggle() {
    if someValue == nil {
      someValue = true
    } else {
      someValue?.toggle()
    }
  }

  func delete() { someValue = nil }
}

/// What a program's own wrapper of a keychain is.
final class MemoryKeychain: KeychainProvider {
  private let all = Mutex<[String: Data]>([:])

  var contents: [String: Data] { all.withLock { $0 } }

  func setData(_ data: Data, forKey key: String) -> Bool {
    all.withLock { $0[key] = data }
    return true
  }
  func getData(forKey key: String) -> Data? { all.withLock { $0[key] } }
  func deleteData(forKey key: String) -> Bool {
    all.withLock { $0.removeValue(forKey: key) != nil }
  }
}

struct SeedTests {
  @Test func whatOneViewWritesTheOtherReads() throws {
    let (writer, reader) = (WriterView(), ReaderView())
    #expect(reader.text == "false")
    // The first time that the value is specified, it is written.
    #expect(myKeychainProvider.shared.contents["someKey"] == Data("false".utf8))
    writer.toggle()
    #expect(reader.text == "true")
    #expect(myKeychainProvider.shared.contents["someKey"] == Data("true".utf8))
  }

  @Test func aProviderThatKeepsNothingMakesASharedState() throws {
    let (writer, reader) = (OptionalWriterView(), OptionalReaderView())
    #expect(reader.text == "No data")
    writer.toggle()
    #expect(reader.text == "true")
    writer.toggle()
    #expect(reader.text == "false")
    writer.delete()
    #expect(reader.text == "No data")
  }

  @Test func theTypeThatWasWrittenFirstStays() throws {
    let keychain = MemoryKeychain()
    let number = KeychainStorage<Int?>(provider: keychain, key: "key")
    let text = KeychainStorage<String?>(provider: keychain, key: "key")
    number.wrappedValue = 1
    #expect(throws: StorageError.self) { try text.projectedValue.save("one") }
    #expect(text.projectedValue.state != .value("one"))
    #expect(number.wrappedValue == 1)
    #expect(keychain.contents["key"] == Data("1".utf8))
  }

  @Test func dataThatExistsIsReadAsItIs() throws {
    struct Limits: Codable, Equatable, Sendable { var requests = 1 }
    let keychain = MemoryKeychain()
    _ = keychain.setData(Data(#"{ "requests": 5 }"#.utf8), forKey: "limits")
    let limits = KeychainStorage(wrappedValue: Limits(), provider: keychain, key: "limits")
    #expect(limits.wrappedValue == Limits(requests: 5))
    limits.wrappedValue.requests += 1
    #expect(keychain.contents["limits"] == Data(#"{"requests":6}"#.utf8))
  }

  // MARK: - A provider made anew by each property

  /// What a program's keychain is: any object of a service leads to the same items.
  private final class Shared: Sendable { let items = Mutex<[String: Data]>([:]) }

  private final class AnewClass: KeychainProvider {
    let base: Shared
    init(_ base: Shared) { self.base = base }
    func setData(_ data: Data, forKey key: String) -> Bool {
      base.items.withLock { $0[key] = data }
      return true
    }
    func getData(forKey key: String) -> Data? { base.items.withLock { $0[key] } }
    func deleteData(forKey key: String) -> Bool {
      base.items.withLock { $0.removeValue(forKey: key) != nil }
    }
  }

  private struct AnewValue: KeychainProvider {
    let base: AnewClass
    func setData(_ data: Data, forKey key: String) -> Bool { base.setData(data, forKey: key) }
    func getData(forKey key: String) -> Data? { base.getData(forKey: key) }
    func deleteData(forKey key: String) -> Bool { base.deleteData(forKey: key) }
  }

  @Test func noUpdateIsLostIfEachPropertyMakesItsProvider() throws {
    let data = Shared()
    func check(_ make: () -> some KeychainProvider) {
      let one = KeychainStorage(wrappedValue: 0, provider: make(), key: "count")
      let two = KeychainStorage(wrappedValue: 0, provider: make(), key: "count")
      let text = KeychainStorage<String?>(provider: make(), key: "other")
      #expect(one.wrappedValue == 0 && two.wrappedValue == 0 && text.wrappedValue == nil)
      one.wrappedValue += 1
      two.wrappedValue += 1
      one.wrappedValue += 1
      #expect(one.wrappedValue == 3 && two.wrappedValue == 3 && text.wrappedValue == nil)
      #expect(data.items.withLock { $0 } == ["count": Data("3".utf8)])
      data.items.withLock { $0 = [:] }
    }
    check { AnewClass(data) }
    check { AnewValue(base: AnewClass(data)) }
  }

  @Test func aRemovalThroughOneProviderIsSeenThroughTheOther() throws {
    let data = Shared()
    let one = KeychainStorage<Int?>(wrappedValue: 1, provider: AnewClass(data), key: "key")
    let two = KeychainStorage<Int?>(provider: AnewClass(data), key: "key")
    #expect(two.wrappedValue == 1)
    one.wrappedValue = nil
    // Not a stored null, which the optional property would read as nil.
    #expect(data.items.withLock { $0.isEmpty })
    #expect(two.wrappedValue == nil)
    #expect(two.projectedValue.state == .absent)
  }

  @Test func providersOfOneTypeWithOtherDataKeepTheirOwnValues() throws {
    let one = KeychainStorage(wrappedValue: 0, provider: AnewClass(Shared()), key: "count")
    let two = KeychainStorage(wrappedValue: 0, provider: AnewClass(Shared()), key: "count")
    #expect(one.wrappedValue == 0 && two.wrappedValue == 0)
    one.wrappedValue = 7
    two.wrappedValue += 1
    #expect(one.wrappedValue == 7 && two.wrappedValue == 1)
  }

  @Test func anObserverSeesAWriteThroughAnotherProvider() throws {
    let data = Shared()
    let one = KeychainStorage(wrappedValue: 0, provider: AnewClass(data), key: "count")
    let two = KeychainStorage(wrappedValue: 0, provider: AnewClass(data), key: "count")
    let isTold = Mutex(false)
    withObservationTracking {
      _ = two.wrappedValue
    } onChange: {
      isTold.withLock { $0 = true }
    }
    one.wrappedValue = 5
    while !isTold.withLock({ $0 }) { usleep(1_000) }
    #expect(two.wrappedValue == 5)
  }
}
