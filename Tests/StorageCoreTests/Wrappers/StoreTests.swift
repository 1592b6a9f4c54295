import StorageCore
import StorageTesting
import TestSupport
import Testing

@Suite struct StoreTests {
  private let storage = DelegatedStorage.fresh()

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

  @Test func anUpdateLosesNoStepOfManyThreads() throws {
    let counter = UnwrappedStore<Int, DelegatedStorage>(wrappedValue: 0, storage, "k")
    let count = Soak.isOn ? 10_000 : 1_000
    Threads.run(8) { _ in
      #expect(throws: Never.self) { for _ in 0..<count { try counter.update { $0 += 1 } } }
    }
    #expect(counter.wrappedValue == 8 * count)
  }
}
