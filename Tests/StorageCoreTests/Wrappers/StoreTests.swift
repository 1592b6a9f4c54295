import StorageCore
import StorageTesting
import TestSupport
import Testing

@Suite struct StoreTests {
  private let storage = DelegatedStorage.fresh()

  private enum Key: String {
    case token
    case region = "a region"
  }

  private struct Settings {
    @Store<String, DelegatedStorage> var token: String?
    @Store<String, DelegatedStorage> var region: String?

    init(_ storage: DelegatedStorage) {
      _token = Store(storage, Key.token)
      _region = Store(wrappedValue: "eu", storage, Key.region)
    }
  }

  private final class Account {
    @Store<Int, DelegatedStorage> var visits: Int?
    init(_ storage: DelegatedStorage) { _visits = Store(storage, "visits") }
  }

  private actor Counter {
    @UnwrappedStore<Int, DelegatedStorage> var count: Int
    init(_ storage: DelegatedStorage) {
      _count = UnwrappedStore(wrappedValue: 0, storage, "count")
    }
    func increment() -> Int {
      count += 1
      return count
    }
  }

  @MainActor private final class Model {
    @Store<Int, DelegatedStorage> var value: Int?
    init(_ storage: DelegatedStorage) { _value = Store(storage, "value") }
  }

  @Test func aStructKeepsItsPropertiesAndSetsThemThoughItIsALet() throws {
    let settings = Settings(storage)
    #expect(settings.token == nil)
    #expect(settings.region == "eu")
    settings.token = "abc"
    settings.region = nil
    #expect(settings.token == "abc")
    #expect(settings.region == nil)
    #expect(try storage.load(forKey: "token") == "abc")
    #expect(try storage.contains("a region") == false)
    #expect(settings.$region.key == "a region")
    #expect(settings.$token.storage === storage)
  }

  @Test func classesActorsAndTheMainActorKeepTheirs() async throws {
    let account = Account(storage)
    account.visits = 3
    #expect(Account(storage).visits == 3)
    let counter = Counter(storage)
    #expect(await counter.increment() == 1)
    #expect(await counter.increment() == 2)
    let storage = storage
    await MainActor.run {
      let model = Model(storage)
      model.value = 5
      #expect(model.value == 5)
    }
    #expect(try storage.load(forKey: "value") == 5)
  }

  @Test func aLocalVariableCanBeAProperty() throws {
    @Store(storage, "local") var local: String?
    @Store(storage, "initial") var initial = "default"
    @UnwrappedStore(storage, "unwrapped") var unwrapped = 1
    @CodableStore(storage, "codable") var codable: [Int]?
    @UnwrappedCodableStore(storage, "unwrappedCodable") var unwrappedCodable = [1]
    #expect(local == nil)
    let value: String? = initial
    #expect(value == "default")
    local = "set"
    unwrapped += 1
    codable = [1, 2]
    unwrappedCodable.append(2)
    #expect(local == "set" && unwrapped == 2)
    #expect(codable == [1, 2] && unwrappedCodable == [1, 2])
    #expect(try storage.keys().count == 5)
  }

  @Test func propertiesOfOneKeySeeEachOtherAtOnce() {
    let (one, other) = (Settings(storage), Settings(storage))
    one.token = "a"
    #expect(other.token == "a")
    other.token = "b"
    #expect(one.token == "b")
    other.token = nil
    #expect(one.token == nil)
  }

  @Test func aWrapperGoesToOtherTasks() async {
    let property = Store<Int, DelegatedStorage>(storage, "k")
    await Task.detached { property.wrappedValue = 4 }.value
    #expect(property.wrappedValue == 4)
  }

  @Test func theProjectedValueLoadsSavesRemovesAndUpdates() throws {
    let property = Store<Int, DelegatedStorage>(storage, "k").projectedValue
    #expect(try property.load() == nil)
    #expect(property.state == .absent)
    try property.save(1)
    #expect(property.state == .value(1))
    try property.update { $0 = $0.map { $0 + 1 } }
    #expect(try property.load() == 2)
    try property.save(nil)
    #expect(property.state == .absent)
    try property.save(3)
    try property.remove()
    try property.remove()
    #expect(try property.load() == nil)
  }

  @Test func theAsynchronousCallsDoTheSame() async throws {
    let property = Store<Int, DelegatedStorage>(storage, "k")
    #expect(try await property.loadAsync() == nil)
    try await property.saveAsync(1)
    try await property.updateAsync { $0 = $0.map { $0 + 1 } }
    #expect(try await property.loadAsync() == 2)
    try await property.removeAsync()
    #expect(try await property.loadAsync() == nil)
    try await property.saveAsync(nil)

    let defaulted = UnwrappedStore<Int, DelegatedStorage>(wrappedValue: 5, storage, "d")
    #expect(try await defaulted.loadAsync() == 5)
    try await defaulted.updateAsync { $0 += 1 }
    #expect(try await defaulted.loadAsync() == 6)
    try await defaulted.saveAsync(1)
    try await defaulted.removeAsync()
    #expect(try await defaulted.loadAsync() == 5)
  }

  private enum Caller {
    @TaskLocal static var name = "nobody"
  }

  @Test func whatAsynchronousCallsRunKnowsTheTasksValues() async throws {
    let storage = storage
    let property = UnwrappedStore<String, DelegatedStorage>(wrappedValue: "", storage, "k")
    try await Caller.$name.withValue("caller") {
      try await property.updateAsync { $0 = Caller.name }
      #expect(try await property.loadAsync() == "caller")
      try await storage.updateAsync(String.self, forKey: "k") { $0 = Caller.name + "'s" }
      #expect(try await property.loadAsync() == "caller's")
    }
  }

  /// Compiles only while each call throws a `StorageError` and nothing else.
  private func codesOfFailures(
    _ property: Store<Int, FaultyStorage>, _ defaulted: UnwrappedStore<Int, FaultyStorage>
  ) async -> [StorageError.Code] {
    var codes: [StorageError.Code] = []
    do throws(StorageError) { _ = try await property.loadAsync() } catch {
      codes.append(error.code)
    }
    do throws(StorageError) { try await property.saveAsync(1) } catch { codes.append(error.code) }
    do throws(StorageError) { try await property.removeAsync() } catch { codes.append(error.code) }
    do throws(StorageError) {
      _ = try await defaulted.loadAsync()
    } catch {
      codes.append(error.code)
    }
    do throws(StorageError) { try await defaulted.saveAsync(1) } catch { codes.append(error.code) }
    return codes
  }

  @Test func theAsynchronousCallsThrowStorageErrors() async {
    let storage = FaultyStorage()
    storage.faults.fail(.all, with: .failure(StorageError(.locked, "on cue")))
    let codes = await codesOfFailures(
      Store(storage, "k"), UnwrappedStore(wrappedValue: 5, storage, "d"))
    #expect(codes == Array(repeating: .locked, count: 5))
  }

  @Test func aCancelledAsynchronousCallEndsAsItWouldHave() async throws {
    let property = Store<Int, DelegatedStorage>(storage, "k")
    let task = Task {
      unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
      try await property.saveAsync(7)
      return try await property.loadAsync()
    }
    #expect(try await task.value == 7)
  }

  @Test func theAsynchronousCallsThrowWhatTheOthersDo() async throws {
    try storage.save("text", forKey: "k")
    let property = Store<Int, DelegatedStorage>(storage, "k")
    let failure = await #expect(throws: StorageError.self) { try await property.loadAsync() }
    #expect(failure?.code == .typeMismatch)
    let update = await #expect(throws: StorageError.self) {
      try await property.updateAsync { $0 = 1 }
    }
    #expect(update?.code == .typeMismatch)
  }

  @Test func anOptionalOfAnOptionalTellsNilFromAbsent() throws {
    let property = Store<String?, DelegatedStorage>(storage, "k")
    #expect(property.wrappedValue == .none)
    property.wrappedValue = .some(nil)
    #expect(property.wrappedValue == .some(nil))
    #expect(try storage.contains("k"))
    property.wrappedValue = "x"
    #expect(property.wrappedValue == "x")
    property.wrappedValue = .none
    #expect(try storage.contains("k") == false)
  }

  @Test func anUpdateLosesNoStepOfManyThreads() async throws {
    let counter = UnwrappedStore<Int, DelegatedStorage>(wrappedValue: 0, storage, "k")
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<8 {
        group.addTask {
          #expect(throws: Never.self) {
            for _ in 0..<1000 { try counter.update { $0 += 1 } }
          }
        }
      }
    }
    #expect(counter.wrappedValue == 8000)
  }

  @Test(.enabled(if: Soak.isOn)) func anUpdateLosesNoStepOfManyThreadsSoak() throws {
    let counter = UnwrappedStore<Int, DelegatedStorage>(wrappedValue: 0, storage, "k")
    Threads.run(8) { _ in
      #expect(throws: Never.self) {
        for _ in 0..<10_000 { try counter.update { $0 += 1 } }
      }
    }
    #expect(counter.wrappedValue == 80_000)
  }
}
