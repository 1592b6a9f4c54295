import Foundation
import InjectRegistry
import TestSupport
import Testing

/// What needs a process of its own: one that stops, and one without the overrides of other tests,
/// in which reads take no lock.
@Suite struct ProcessTests {
  @Test func anUnwrappedPropertyStopsWithTheErrorAsItIsPrinted() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      struct Checkout { @UnwrappedInject var api: any API }
      _ = Checkout().api
    }
    let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
    #expect(text.contains("InjectError.notFound: nothing is registered for `any "), "\(text)")
    #expect(text.contains("InjectRegistryTests/ProcessTests.swift:"), "\(text)")
  }

  @Test func aPropertyThatIsNilTellsStandardErrorWhy() async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      @Inject var api: (any API)?
      guard api == nil else { exit(1) }
    }
    let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
    #expect(text.contains("InjectError.notFound"), "\(text)")
  }

  @Test func whatAStrictTestIsToldIsNotSaidAgain() async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      struct Checkout: Sendable {
        @Inject var api: (any API)?
        @Inject var client: Client?
        @Inject var animal: (any Animal)?
      }
      let told = Shared<[InjectError.Code]>([])
      let tell: @Sendable (InjectError) -> Void = { error in
        told.withLock { $0.append(error.code) }
      }
      InjectStorage.standard.withFreshOverrides(strictHandler: tell) {
        @Register var client = { () throws -> Client in
          Client(try InjectStorage.standard.resolve((any API).self).name)
        }
        @Register var animal = { () throws -> any Animal in throw Refused("by a double") }
        let checkout = Checkout()
        guard checkout.api == nil, checkout.client == nil, checkout.animal == nil else { exit(1) }
      }
      guard told.current == [.notFound, .notFound] else { exit(2) }
    }
    let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
    // What the test's own double says is told nowhere else.
    #expect(text.contains("by a double") && !text.contains("notFound"), "\(text)")
  }

  @Test func whatAStrictTestIsNotToldIsSaid() async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      let tell: @Sendable (InjectError) -> Void = { _ in exit(1) }
      InjectStorage.standard.withFreshOverrides(strictHandler: tell) {
        // A thread of its own has no overrides, and so belongs to no test.
        @Register var client = { () throws -> Client in
          let name = Shared<Result<String, any Error>>(.success(""))
          Threads.run(1) { _ in
            name.withLock { name in
              name = Result { try InjectStorage.standard.resolve((any API).self).name }
            }
          }
          return Client(try name.current.get())
        }
        @Inject var injected: Client?
        guard injected == nil else { exit(2) }
      }
    }
    let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
    #expect(text.contains("builderFailed") && text.contains("notFound"), "\(text)")
  }

  @Test func aPublishedInstanceIsReplacedForAllReaders() async {
    await #expect(processExitsWith: .success) {
      struct Reader: Sendable {
        @UnwrappedInject var api: any API
        @Inject var optional: (any API)?
        @UnwrappedInject(.instance) var client: Client
      }
      @Sendable func register(_ name: String) {
        @Register var api: any API = Client(name)
        @Register var client = { Client(name) }
      }
      let reader = Reader()
      for round in 0..<5 {
        register("\(round)")
        for _ in 0..<500 {
          let read = [
            reader.api.name, reader.optional?.name, reader.client.name,
            try? InjectStorage.standard.resolve((any API).self).name,
          ]
          guard read.allSatisfy({ $0 == "\(round)" }) else { exit(1) }
          guard reader.client !== reader.client else { exit(2) }
        }
      }
      // Overrides go before what is published, and end.
      InjectStorage.withOverrides {
        register("double")
        guard reader.api.name == "double", reader.client.name == "double" else { exit(3) }
      }
      guard reader.api.name == "4" else { exit(4) }
    }
  }

  @Test func readersOfAPublishedInstanceGetTheOldOrTheNewOne() async {
    await #expect(processExitsWith: .success) {
      struct Reader: Sendable { @UnwrappedInject var api: any API }
      @Sendable func register(_ round: Int) {
        @Register var api: any API = Client("\(round)")
      }
      register(0)
      let reader = Reader()
      let isDone = Counter()
      Threads.run(4) { index in
        if index == 0 {
          for round in 1...2_000 { register(round) }
          isDone.add()
        } else {
          var last = 0
          while isDone.value == 0 {
            guard let round = Int(reader.api.name), round >= last else { exit(1) }
            last = round
          }
        }
      }
      guard reader.api.name == "2000" else { exit(2) }
    }
  }

  @Test func aBuilderThatWaitsForAThreadByOtherMeansIsReportedWithThePath() async {
    await #expect(processExitsWith: .success) {
      final class A: Sendable {}
      final class B: Sendable {}
      let storage = InjectStorage()
      let reports = Shared<[InjectError]>([])
      let isReported = DispatchSemaphore(value: 0)
      InjectDiagnostics.patience = .milliseconds(20)
      InjectDiagnostics.handler = { error in
        reports.withLock { $0.append(error) }
        isReported.signal()
      }
      storage.register { [unowned storage] () -> A in
        let isDone = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
          // It waits for this very builder, which waits for it until it was reported.
          _ = try? storage.resolve(A.self)
          isDone.signal()
        }
        isReported.wait()
        return A()
      }
      storage.register { [unowned storage] () throws -> B in
        _ = try storage.resolve(A.self)
        return B()
      }
      guard (try? storage.resolve(B.self)) != nil else { exit(1) }
      guard let error = reports.current.first, error.code == .slowBuilder else { exit(2) }
      guard error.path.map({ $0.suffix(2) }) == [".B", ".A"] else { exit(3) }
    }
  }

  @Test func anAsyncWaitThatTakesLongIsReportedAndGoesOn() async {
    await #expect(processExitsWith: .success) {
      final class A: Sendable {}
      let storage = InjectStorage()
      let (reports, continuation) = AsyncStream<InjectError>.makeStream()
      InjectDiagnostics.patience = .milliseconds(20)
      InjectDiagnostics.handler = { continuation.yield($0) }
      let (running, isRunning) = AsyncStream<Void>.makeStream()
      storage.register { () async -> A in
        isRunning.yield()
        for await report in reports where report.code == .slowBuilder { break }
        return A()
      }
      let first = Task { try await storage.resolveAsync(A.self) }
      for await _ in running { break }
      guard let second = try? await storage.resolveAsync(A.self) else { exit(1) }
      guard (try? await first.value) === second else { exit(2) }
    }
  }

  @Test func aCycleThroughAChildTaskIsReportedWithTheWayRoundAndEndsWithItsTask() async {
    await #expect(processExitsWith: .success) {
      final class A: Sendable {}
      final class B: Sendable {}
      let storage = InjectStorage()
      let (reports, continuation) = AsyncStream<InjectError>.makeStream()
      InjectDiagnostics.patience = .milliseconds(20)
      InjectDiagnostics.handler = { continuation.yield($0) }
      storage.register { [unowned storage] () async throws -> A in
        async let other = storage.resolveAsync(B.self)
        _ = try await other
        return A()
      }
      storage.register { [unowned storage] () async throws -> B in
        _ = try await storage.resolveAsync(A.self)
        return B()
      }
      let reader = Task { try await storage.resolveAsync(A.self) }
      for await report in reports {
        guard report.code == .slowBuilder else { exit(1) }
        let path = report.path.map { $0.suffix(2) }
        guard path == [".A", ".B", ".A"] else { exit(2) }
        break
      }
      reader.cancel()
      guard case .failure = await reader.result else { exit(3) }
    }
  }
}
