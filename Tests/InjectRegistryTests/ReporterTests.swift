import Foundation
import InjectRegistry
import Testing

/// A handler or a closure that takes errors may itself inject what fails.
///
/// Each test has a process of its own, which a recursion would end.
@Suite struct ReporterTests {
  private struct Page: Sendable {
    @Inject var missing: (any API)?
    @Inject var failing: Client?
  }

  @Test func aHandlerThatInjectsWhatFailsIsCalledOnceForEachRead() async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      let page = Page()
      let calls = Counter()
      InjectDiagnostics.handler = { _ in
        calls.add()
        _ = (page.missing, page.missing)
      }
      for round in 1...3 {
        guard page.missing == nil, calls.value == round else { exit(1) }
      }
    }
    let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
    #expect(text.split(separator: "\n").filter { $0.contains("notFound: ") }.count == 6, "\(text)")
  }

  @Test func soIsAnErrorClosure() async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      @Register var client = { () throws -> Client in throw Refused("by the builder") }
      let page = Page()
      let calls = Counter()
      InjectStorage.standard.errorClosure = { _ in
        calls.add()
        _ = page.failing
      }
      guard page.failing == nil, calls.value == 1 else { exit(1) }
      guard page.failing == nil, calls.value == 2 else { exit(2) }
      // A missing dependency calls the closure, which may register it; its own failure calls the
      // closure once more.
      guard page.missing == nil, calls.value == 4 else { exit(3) }
    }
    let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
    #expect(text.split(separator: "\n").filter { $0.contains("builderFailed: ") }.count == 3)
  }

  @Test func anErrorClosureMayStillRegisterWhatItNeedsItself() async {
    await #expect(processExitsWith: .success) {
      InjectStorage.standard.errorClosure = { error in
        guard let error = error as? InjectError else { exit(1) }
        if error.dependency.hasSuffix("API") {
          @Inject var client: Client?
          guard let client else { exit(2) }
          @Register var api: any API = client
        } else {
          @Register var client = Client("late")
        }
      }
      guard Page().missing?.name == "late" else { exit(3) }
    }
  }

  @Test func aHandlerMayReadWhatTheFailedBuilderReads() async {
    await #expect(processExitsWith: .success) {
      let page = Page()
      @Register var client = { () throws -> Client in
        guard let api = page.missing else { throw Refused() }
        return Client(api.name)
      }
      let calls = Counter()
      InjectDiagnostics.handler = { _ in
        calls.add()
        _ = page.failing
      }
      // The missing API is reported, and then the failed builder; each from inside of the other.
      guard page.failing == nil, calls.value == 2 else { exit(1) }
    }
  }

  @Test func anErrorWhoseDescriptionFailsIsWrittenAllTheSame() async throws {
    struct Wordy: Error, CustomStringConvertible {
      var description: String { "wordy" + (Page().failing?.name ?? "") }
    }
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      @Register var client = { () throws -> Client in throw Wordy() }
      guard Page().failing == nil else { exit(1) }
    }
    let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
    #expect(text.contains("builderFailed") && text.contains("wordy"), "\(text)")
  }

  @Test func aHandlerIsCalledInEachThreadThatReports() async {
    await #expect(processExitsWith: .success) {
      let page = Page()
      let calls = Counter()
      InjectDiagnostics.handler = { _ in
        guard calls.add() == 1 else { return }
        // Another thread is not inside of this handler.
        let isDone = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
          _ = page.missing
          isDone.signal()
        }
        isDone.wait()
      }
      guard page.missing == nil, calls.value == 2 else { exit(1) }
    }
  }
}
