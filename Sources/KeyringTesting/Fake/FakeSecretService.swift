internal import Foundation

/// A Secret Service in the test's own process, which behaves as well or as badly as ``manners``
/// say.
///
/// It owns `org.freedesktop.secrets` on a private bus, answers on a thread of its own, and keeps
/// its items in memory. It knows only the algorithm `plain` and refuses the other one, as the
/// specification allows; clients fall back. Any thread may use it.
public final class FakeSecretService: Sendable {
  /// The bus that it is on.
  public let bus: PrivateBus

  private let state: Guarded<SecretState>
  private let connection = Guarded<BusConnection?>(nil)
  private let thread = WorkThread("FakeSecretService")

  /// Starts a service with one collection, `Login`, which is the default one.
  ///
  /// - Parameters:
  ///   - bus: where it serves.
  ///   - manners: how it behaves, until ``manners`` is changed.
  /// - Throws: ``KeyringTestingError`` when the bus does not answer, or has such a service already.
  public init(on bus: PrivateBus, manners: Manners = Manners()) throws {
    self.bus = bus
    var state = SecretState(manners: manners)
    _ = state.makeCollection(label: "Login", alias: "default")
    state.outbox = []
    self.state = Guarded(state)
    try connect()
  }

  deinit { stop() }

  // MARK: Manners

  /// How it behaves; a change holds from the next call on.
  ///
  /// Setting one property is a read and a write: ``change(_:)`` is for changes while calls arrive;
  /// it keeps the count of calls that a fault still affects.
  public var manners: Manners {
    get { state.withLock { $0.manners } }
    set { state.withLock { $0.manners = newValue } }
  }

  /// Changes how it behaves, in one step.
  public func change(_ change: (inout Manners) -> Void) {
    state.withLock { change(&$0.manners) }
  }

  // MARK: Looking

  /// How many calls came, by names such as `Service.GetSecrets` or `Properties.GetAll`, including
  /// calls that were not answered.
  package var calls: [String: Int] { state.withLock { $0.calls } }

  /// How many calls came.
  ///
  /// - Parameter method: its name, such as `GetSecrets` or `Item.Delete`; nil means all methods.
  /// - Returns: how many came since the start or ``forgetCalls()``.
  package func callCount(_ method: String? = nil) -> Int {
    calls.filter { name, _ in
      method == nil || name == method || name.split(separator: ".").last.map(String.init) == method
    }.values.reduce(0, +)
  }

  /// Begins to count anew.
  package func forgetCalls() { state.withLock { $0.calls = [:] } }

  /// The collections, including those that are hidden on the bus.
  package var collections: [Collection] { state.withLock { $0.collections } }

  /// The items of all collections, including those that are hidden on the bus.
  public var items: [Item] { collections.flatMap(\.items) }

  // MARK: Stopping

  /// Ends its connection, as when a daemon dies: calls under way are not answered.
  public func stop() {
    let last = connection.withLock { $0.take() }
    last?.close()
    state.withLock { state in
      state.sessions = []
      state.prompts = [:]
      state.outbox = []
    }
  }

  /// Ends its connection, and serves again with the same items and no sessions.
  ///
  /// - Throws: ``KeyringTestingError`` when the bus does not answer, or has such a service already.
  public func restart() throws {
    stop()
    try connect()
  }

  private func connect() throws(KeyringTestingError) {
    let new = try bus.connect()
    let receiver = Receiver(service: self, connection: new)
    new.receive { [thread] request in
      thread.post { receiver.take(request) }
    }
    // DBUS_NAME_FLAG_DO_NOT_QUEUE is 4, DBUS_REQUEST_NAME_REPLY_PRIMARY_OWNER is 1.
    let answer = try new.callBus("RequestName", .string(SecretServiceName.bus), .uint32(4))
    guard answer == [.uint32(1)] else {
      throw KeyringTestingError("\(SecretServiceName.bus) has an owner on this bus already")
    }
    connection.withLock { $0 = new }
  }

  // MARK: Answering

  /// Passes calls to the service, while it exists.
  ///
  /// The closure that gets the calls must not capture the service: GDBus runs the closure on a
  /// thread that closing waits for, so the last reference must not end there.
  private final class Receiver: @unchecked Sendable {
    // Unchecked, since a weak reference has to be a variable: both are set in `init` alone, and
    // reading a weak reference is safe on any thread.
    private weak var service: FakeSecretService?
    private weak var connection: BusConnection?

    init(service: FakeSecretService, connection: BusConnection) {
      self.service = service
      self.connection = connection
    }

    func take(_ request: Request) {
      guard let service, let connection else { return }
      service.handle(request, connection)
    }
  }

  private func handle(_ request: Request, _ connection: BusConnection) {
    let hook = state.withLock { state in
      state.calls[request.method, default: 0] += 1
      return state.manners.beforeEachCall
    }
    hook?(request.method)
    switch state.withLock({ $0.manners.takeFault(request) }) {
    case nil: answer(request, connection)
    case .hang(carriesOut: false): break
    case .hang(carriesOut: true): _ = carryOut(request, connection)
    case .die(let carriesOut):
      if carriesOut { _ = carryOut(request, connection) }
      stop()
    case .refuse(let refusal): connection.refuse(request, refusal)
    case .answer(let values): connection.reply(to: request, values)
    case .answerLate(let delay): answer(request, connection, after: delay)
    }
  }

  private func answer(
    _ request: Request, _ connection: BusConnection, after delay: Duration = .zero
  ) {
    guard let answer = carryOut(request, connection) else { return }
    let send: @Sendable () -> Void = { [weak self] in
      switch answer {
      case .success(let values): connection.reply(to: request, values)
      case .failure(let refusal): connection.refuse(request, refusal)
      }
      if request.method == "Prompt.Prompt" { self?.promptWasShown(request.path) }
    }
    if delay == .zero { send() } else { thread.post(after: delay, send) }
  }

  /// Carries out a call; nil when it must not be answered.
  private func carryOut(
    _ request: Request, _ connection: BusConnection
  ) -> Result<[DBusValue], Refusal>? {
    let (answer, signals) = state.withLock { state in
      (state.carryOut(request), state.takeOutbox())
    }
    for signal in signals { connection.emit(signal) }
    return answer
  }

  private func promptWasShown(_ path: String) {
    let (answer, delay) = state.withLock { ($0.manners.promptAnswer, $0.manners.promptDelay) }
    guard answer == .answered || answer == .dismissed else { return }
    thread.post(after: delay) { [weak self] in
      self?.update { $0.complete(path, dismissed: answer == .dismissed) }
    }
  }

  /// Changes the state, and sends the resulting signals.
  func update(_ change: (inout SecretState) -> Void) {
    let signals = state.withLock { state in
      change(&state)
      return state.takeOutbox()
    }
    guard let connection = connection.withLock({ $0 }) else { return }
    for signal in signals { connection.emit(signal) }
  }
}

extension SecretState {
  /// Carries out a call; nil when it must not be answered.
  fileprivate mutating func carryOut(_ request: Request) -> Result<[DBusValue], Refusal>? {
    if request.method == "Service.SearchItems", manners.lockedSearchHangs,
      collections.allSatisfy(\.isLocked)
    {
      return nil
    }
    return Result { () throws(Refusal) in
      guard request.arguments != nil else { throw .invalidArguments("a type is not known") }
      let answer =
        switch request.interface {
        case "Service": try service(request)
        case "Collection": try collection(request)
        case "Item": try item(request)
        case "Prompt": try prompt(request)
        case "Session": try session(request)
        case "Properties": try properties(request)
        default: throw Refusal.unusable(request)
        }
      return manners.lies.contains(.wrongTypes) ? [.uint32(42)] : answer
    }
  }
}
