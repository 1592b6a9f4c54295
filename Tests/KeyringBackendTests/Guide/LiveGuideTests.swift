import CLibsecret
import CryptoCore
import DefaultsBackend
import Foundation
import Observation
import StorageCore
import TestSupport
import Testing
import VaultBackend

// MARK: - The code of the guide "Live properties" of StorageCore

struct Settings: Sendable {
  @LiveUserDefault("theme") var theme = "dark"
  @LiveUserDefault("recent-files") var recent: [String] = []
  @UserDefault("token") var token: String?  // a secret: read when it is needed
}

struct Limits: Sendable {
  @Live<Int, VaultStorage> var connections: Int

  init(in storage: VaultStorage) {
    _connections = Live(wrappedValue: 100, storage, "connections")
  }
}

struct ServiceSettings: Sendable {
  @LiveVault("http.port", validate: { (1...65_535).contains($0) }) var httpPort = 8080
  @LiveVault("log.level", validate: { ["info", "debug"].contains($0) }) var logLevel: String?
}

func follow(_ settings: Settings, show: @Sendable (String) async -> Void) async {
  for await theme in Observations({ settings.theme }) {
    await show(theme)
  }
}

actor Renderer {
  private let settings = Settings()
  private(set) var drawn: [String] = []
  private var task: Task<Void, Never>?

  func start() {
    let settings = settings
    task = Task { [weak self] in
      for await theme in Observations({ settings.theme }) {
        guard let self else { return }
        await self.draw(theme)
      }
    }
  }

  private func draw(_ theme: String) { drawn.append(theme) }

  deinit { task?.cancel() }
}

@Observable
final class Model {
  @ObservationIgnored @LiveUserDefault("theme") var theme = "dark"
  var zoom = 1.0
}

/// Runs `show` now, and again after each change of a live value that it read.
///
/// It ends when `show` reads no live value. Call it on the main loop's thread; `show` always runs
/// there.
func follow(_ show: @escaping @Sendable () -> Void) {
  withObservationTracking(show) {
    onMainLoop { follow(show) }
  }
}

/// Asks the main loop to call `body` soon, on the main loop's thread.
func onMainLoop(_ body: @escaping @Sendable () -> Void) {
  let call = unsafe Unmanaged.passRetained(Call(body))
  unsafe g_idle_add(
    { data in
      unsafe Unmanaged<Call>.fromOpaque(data!).takeRetainedValue().body()
      return 0  // G_SOURCE_REMOVE
    }, call.toOpaque())
}

final class Call: Sendable {
  let body: @Sendable () -> Void
  init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}

// MARK: - That it does what the guide says

/// In the standard suite of the tests' own home, which every test here changes.
@Suite(
  .serialized,
  .enabled(
    if: ProcessInfo.processInfo.environment["SPS_PRIVATE_ENVIRONMENT"] != nil,
    "needs folders that are not the user's own"))
struct LiveGuideTests {
  private let settings = Settings()
  /// Another wrapper, as a part of the program that knows nothing of the live one.
  @UnwrappedUserDefault("theme") private var elsewhere = "dark"

  init() throws { try settings.$theme.remove() }

  @Test func theGuideShowsTheCodeThatIsTestedHere() throws {
    let tests = URL(fileURLWithPath: #filePath)
    let root = (0..<4).reduce(tests) { folder, _ in folder.deletingLastPathComponent() }
    let page = "Sources/StorageCore/StorageCore.docc/LiveProperties.md"
    let guide = try String(contentsOf: root.appendingPathComponent(page), encoding: .utf8)
    let code = try String(contentsOf: tests, encoding: .utf8)
    let blocks = guide.components(separatedBy: "```swift\n").dropFirst()
      .map { $0.components(separatedBy: "```")[0] }
    #expect(blocks.count == 7)
    for block in blocks { #expect(code.contains(block), "the guide has\n\(block)") }
  }

  @Test func aTaskIsToldOfTheValueAndOfEachChange() async throws {
    let (shown, source) = AsyncStream.makeStream(of: String.self)
    let settings = settings
    let task = Task { await follow(settings) { source.yield($0) } }
    var all = shown.makeAsyncIterator()
    #expect(await all.next() == "dark")
    elsewhere = "light"
    #expect(await all.next() == "light")
    task.cancel()
  }

  @Test func aStorageIsGivenAtRunTime() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: folder) }
    let storage = VaultStorage(
      at: folder.appendingPathComponent("test.vault"),
      keySource: .key(SymmetricKey(data: Data(repeating: 7, count: 32))))
    let limits = Limits(in: storage)
    #expect(limits.connections == 100)
    try storage.save(20, forKey: "connections")
    #expect(limits.connections == 20)
  }

  @Test func anActorFollows() async throws {
    let renderer = Renderer()
    await renderer.start()
    #expect(await drew(renderer, "dark"))
    elsewhere = "light"
    #expect(await drew(renderer, "light"))
  }

  private func drew(_ renderer: Renderer, _ theme: String) async -> Bool {
    for _ in 0..<6_000 {
      if await renderer.drawn.last == theme { return true }
      try? await Task.sleep(for: .milliseconds(10))
    }
    return false
  }

  @Test func aClassIsObservedThroughItsLiveProperties() {
    let model = Model()
    let count = Lock(0)
    withObservationTracking {
      _ = model.theme
    } onChange: {
      count.withLock { $0 += 1 }
    }
    elsewhere = "light"
    #expect(model.theme == "light")
    #expect(count.withLock { $0 } == 1)
  }

  /// What was shown in a window, by the thread of the main loop alone.
  private final class Window: Sendable {
    private let shown = Lock<(titles: [String], elsewhere: Int)>(([], 0))
    private let thread = Lock<Thread?>(nil)

    func open() { thread.withLock { $0 = .current } }

    func show(_ title: String) {
      let isElsewhere = thread.withLock { $0 !== Thread.current }
      shown.withLock { shown in
        shown.titles.append(title)
        if isElsewhere { shown.elsewhere += 1 }
      }
    }

    var titles: [String] { shown.withLock { $0.titles } }
    var countElsewhere: Int { shown.withLock { $0.elsewhere } }
  }

  @Test func aProgramWithAMainLoopOfGLibsIsToldOnItsThread() throws {
    let window = Window()
    let settings = settings
    let loop = MainLoop()
    defer { loop.quit() }
    onMainLoop {
      window.open()
      follow { window.show(settings.theme) }
    }
    #expect(waits { window.titles == ["dark"] })
    for round in 0..<200 {
      // Of quick changes some are left out; the last one never is.
      elsewhere = "quick \(round)"
      settings.theme = "theme \(round)"
      #expect(waits { window.titles.last == "theme \(round)" })
    }
    Threads.run(4) { thread in
      for round in 0..<20 { settings.theme = "thread \(thread) \(round)" }
    }
    let last = settings.theme
    #expect(waits { window.titles.last == last })
    #expect(window.countElsewhere == 0)
  }

  @Test func whatIsFollowedOnTheMainLoopEndsWithItsWindow() throws {
    let settings = settings
    let loop = MainLoop()
    defer { loop.quit() }
    let count = Lock(0)
    let held = Lock<Window?>(Window())
    onMainLoop {
      follow {
        // Counted once it was read: from then on it is followed.
        held.withLock { $0 }?.show(settings.theme)
        count.withLock { $0 += 1 }
      }
    }
    #expect(waits { count.withLock { $0 } == 1 })
    held.withLock { $0 = nil }
    elsewhere = "light"
    #expect(waits { count.withLock { $0 } == 2 })
    elsewhere = "dark"
    elsewhere = "light"
    // Behind whatever was to be called on the loop.
    let isDone = DispatchSemaphore(value: 0)
    onMainLoop { isDone.signal() }
    isDone.wait()
    #expect(count.withLock { $0 } == 2)
  }

  private func waits(until condition: () -> Bool) -> Bool {
    let end = ContinuousClock.now + .seconds(60)
    while !condition() {
      if ContinuousClock.now > end { return false }
      usleep(500)
    }
    return true
  }
}

/// GLib's default main loop, run by a thread of its own as by a desktop program's main thread.
@safe private final class MainLoop: @unchecked Sendable {
  // A GMainLoop may be used by any thread; the pointer never changes.
  private let loop: OpaquePointer
  private let isOver = DispatchSemaphore(value: 0)

  init() {
    unsafe loop = g_main_loop_new(nil, 0)
    Thread.detachNewThread { [self] in
      unsafe g_main_loop_run(loop)
      isOver.signal()
    }
  }

  /// Ends it, after what is to be called on it.
  func quit() {
    onMainLoop { [self] in unsafe g_main_loop_quit(loop) }
    isOver.wait()
  }

  deinit { unsafe g_main_loop_unref(loop) }
}
