internal import CryptoCore
internal import Dispatch
internal import Glibc
internal import StorageCore

/// A question that the service puts to the user, on a display of its own.
struct Prompt {
  /// How a prompt ended.
  private enum Ending: Sendable {
    case completed(result: Variant)
    case dismissed
    case malformed
    case serviceGone
    case cancelled
  }

  private let path: ObjectPath
  private let connection: BusConnection

  /// The prompt at a path in the service's answer, or nil when no prompt is needed.
  init?(_ path: ObjectPath, on connection: BusConnection) {
    guard path != .none else { return nil }
    self.path = path
    self.connection = connection
  }

  /// Shows the prompt and waits for the user, if the policy allows that.
  ///
  /// - Parameters:
  ///   - purpose: why the prompt is needed, for errors.
  ///   - call: whose policy and deadline it follows.
  /// - Returns: the result that the service sends with the answer.
  /// - Throws: `locked` when no prompt may be shown, `dismissed`, `timedOut`, `cancelled`, or the
  ///   error that the service returned.
  func perform(for purpose: String, _ call: Call) throws(BusFailure) -> Variant {
    guard Self.isAllowed(call.access.prompts) else {
      // Best effort: a prompt that is never shown does no harm.
      dismiss()
      throw BusFailure(
        .locked,
        "\(purpose) needs the user's answer to a prompt, but no prompt may be shown "
          + "(\(Self.reason(call.access.prompts))); unlock the keyring and try again")
    }
    return try call.whileAsking { () throws(BusFailure) in try ask(purpose, call) }
  }

  private func ask(_ purpose: String, _ call: Call) throws(BusFailure) -> Variant {
    let ending = Lock<Ending?>(nil)
    let isOver = DispatchSemaphore(value: 0)
    let end: @Sendable (Ending) -> Void = { how in
      ending.withLock { $0 = $0 ?? how }
      isOver.signal()
    }
    // Subscribed before the prompt is shown, and by its path alone, since KeePassXC broadcasts the
    // signal.
    let answer = SignalSubscription(
      on: connection, sender: connection.owner,
      interface: "org.freedesktop.Secret.Prompt", member: "Completed", path: path
    ) { signal in
      guard signal.parameters.count == 2, let isDismissed = signal.parameters[0].boolean,
        let result = signal.parameters[1].boxed
      else { return end(.malformed) }
      end(isDismissed ? .dismissed : .completed(result: result))
    }
    let owner = SignalSubscription.ofOwners(on: connection) { _ in end(.serviceGone) }
    let cancellation = Cancellation.current?.whenCancelled { end(.cancelled) }
    defer { withExtendedLifetime((answer, owner, cancellation)) {} }
    let window = try storage { () throws(StorageError) in try Variant.string("") }
    do throws(BusFailure) {
      _ = try connection.call(.prompt("Prompt"), at: path, [window], as: "()", call)
    } catch {
      dismiss()  // it may be shown, though the answer that says so did not come
      throw error
    }
    let (seconds, attoseconds) = call.access.promptDeadline.components
    let nanoseconds = Int(clamping: seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
    _ = isOver.wait(timeout: .now() + .nanoseconds(nanoseconds))
    switch ending.withLock({ $0 }) {
    case .completed(let result): return result
    case .dismissed:
      throw BusFailure(
        .dismissed,
        "the prompt for \(purpose) was dismissed, or could not be shown; try again when the user can "
          + "answer")
    case .malformed:
      throw BusFailure(
        .damaged, "the keyring service sent a malformed answer to a prompt; try again")
    case .serviceGone: throw BusFailure(.connectionLost, .noService)
    case .cancelled:
      dismiss()
      throw BusFailure(.cancelled, "\(purpose) was cancelled by the program")
    case nil:
      dismiss()
      throw BusFailure(
        .timedOut,
        "\(purpose): nobody answered the prompt within the deadline; try again when the user can answer"
      )
    }
  }

  private func dismiss() {
    // A failure here does not matter: the call has failed already.
    do throws(BusFailure) {
      _ = try connection.call(
        .prompt("Dismiss"), at: path, as: "()", Call(.dismissing, isCleaningUp: true))
    } catch {}
  }

  private static func isAllowed(_ policy: KeyringAccess.PromptPolicy) -> Bool {
    switch policy {
    case .never: false
    case .always: true
    case .ifInteractive:
      StandardFolders.isSet("WAYLAND_DISPLAY") || StandardFolders.isSet("DISPLAY")
    }
  }

  private static func reason(_ policy: KeyringAccess.PromptPolicy) -> String {
    policy == .never ? "prompts is .never" : "there is no display"
  }
}

extension KeyringAccess {
  /// For dismissing a prompt.
  ///
  /// The deadline is short, since the call that showed the prompt is out of time.
  fileprivate static let dismissing = KeyringAccess(deadline: .milliseconds(50))
}

extension SignalSubscription {
  /// Calls a handler when the service leaves the bus or comes to it; it gets whether it is there.
  static func ofOwners(
    on connection: BusConnection, _ handler: @escaping @Sendable (Bool) -> Void
  ) -> SignalSubscription {
    SignalSubscription(
      on: connection, sender: "org.freedesktop.DBus",
      interface: "org.freedesktop.DBus", member: "NameOwnerChanged"
    ) { signal in
      guard signal.parameters.count == 3,
        signal.parameters[0].text == BusConnection.serviceName
      else { return }
      handler(signal.parameters[2].text?.isEmpty == false)
    }
  }
}
