import CryptoCore
import StorageCore
import Testing

@Suite struct PropertyChangesTests {
  private let storage = DelegatedStorage.fresh()

  @Test func aListenerGetsTheValueOfItsStartAndThenTheNewest() async throws {
    let property = Store<Int, DelegatedStorage>(storage, "k")
    try property.save(1)
    var values = property.values.makeAsyncIterator()
    for value in 2...5 { try property.save(value) }
    for expected in [1, 5] { #expect(await values.next() == .some(expected)) }
    try property.remove()
    #expect(await values.next() == .some(nil))
    try property.update { $0 = 6 }
    #expect(await values.next() == .some(6))
  }

  @Test func aPropertyWithoutAValueStartsWithNilOrItsDefault() async throws {
    let optional = Store<Int, DelegatedStorage>(storage, "a")
    let defaulted = UnwrappedStore<Int, DelegatedStorage>(wrappedValue: 9, storage, "a")
    var (values, defaults) = (
      optional.values.makeAsyncIterator(), defaulted.values.makeAsyncIterator()
    )
    #expect(await values.next() == .some(nil))
    #expect(await defaults.next() == 9)
    try optional.save(1)
    #expect(await values.next() == .some(1))
    #expect(await defaults.next() == 1)
    try optional.remove()
    #expect(await values.next() == .some(nil))
    #expect(await defaults.next() == 9)
  }

  @Test func cancellationEndsTheIteration() async throws {
    let property = Store<Int, DelegatedStorage>(storage, "k")
    let sequence = property.values
    let task = Task {
      var count = 0
      for await _ in sequence { count += 1 }
      return count
    }
    try await Task.sleep(for: .milliseconds(20))
    task.cancel()
    #expect(await task.value <= 1)
    let states = property.states
    let cancelled = Task {
      unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
      var iterator = states.makeAsyncIterator()
      return await iterator.next()
    }
    #expect(await cancelled.value == nil)
  }

  @Test func statesTellAbsentValueAndFailureApart() async throws {
    let delegate = OpenDelegate()
    let log = ErrorLog()
    let storage = DelegatedStorage(
      delegate, keySource: .key(.fresh), errorClosure: { log.add($0) })
    let property = Store<Int, DelegatedStorage>(storage, "k")
    var states = property.states.makeAsyncIterator()
    var values = property.values.makeAsyncIterator()
    #expect(await states.next() == .absent)
    #expect(await values.next() == .some(nil))
    try property.save(1)
    #expect(await states.next() == .value(1))
    #expect(await values.next() == .some(1))

    let (name, _) = try delegate.onlyRecord()
    let failures: [(StorageError.Code, () throws -> Void)] = [
      (.damaged, { try delegate.replace(name, with: [1, 2, 3]) }),
      (.typeMismatch, { try storage.save("text", forKey: "k") }),
    ]
    for (expected, change) in failures {
      try change()
      guard case .failed(let error) = await states.next() else {
        Issue.record("no failure was told")
        continue
      }
      #expect(error.code == expected && error.key == "k")
    }
    #expect(log.errors.isEmpty)
    async let next = values.next()
    while log.codes.isEmpty { try await Task.sleep(for: .milliseconds(1)) }
    try property.save(2)
    #expect(await states.next() == .value(2))
    #expect(await next == .some(2), "a failure is no value")
    #expect(log.codes == [.typeMismatch])
  }
}
