internal import CryptoCore
internal import Glibc
internal import StorageCore

/// The program's way to the Secret Service of one bus.
///
/// The client connects when needed, and again after a restart of the service or the bus.
final class KeyringClient: Sendable {
  /// The client of the session bus that the environment names when it is first needed.
  static let session = KeyringClient { () throws(StorageError) in try BusAddress.ofSession() }

  /// The client of the bus at an address; all callers that name this address share it.
  static func to(_ address: String) -> KeyringClient {
    others.withLock { others in
      if let client = others[address] { return client }
      let client = KeyringClient { () throws(StorageError) in address }
      others[address] = client
      return client
    }
  }
  private static let others = Lock<[String: KeyringClient]>([:])

  private let address: @Sendable () throws(StorageError) -> String
  private let connection = Lock<BusConnection?>(nil)
  /// Follows the service's signals.
  let signals = SignalFollower()
  /// Reports changes of the items.
  let follower = ItemFollower()
  /// The process that called first.
  ///
  /// A child of fork(2) has neither its threads nor GLib's.
  private static let process = OwnProcess()

  /// The client of the bus whose address is asked for when it is needed.
  init(_ address: @escaping @Sendable () throws(StorageError) -> String) {
    self.address = address
  }

  /// Makes a call of several steps, once more when the service went away in the middle.
  ///
  /// - Parameters:
  ///   - access: how long it may take, and whether it may ask the user.
  ///   - body: the steps; it starts over after a restart of the service, so it must find out what
  ///     its earlier run has done.
  /// - Returns: what `body` returns.
  /// - Throws: `StorageError`.
  func perform<Result>(
    _ access: KeyringAccess, _ body: (BusConnection, Call) throws(BusFailure) -> Result
  ) throws(StorageError) -> Result {
    try Self.refuseInChild()
    let call = Call(access)
    do throws(BusFailure) {
      let connection = try current(call)
      let first: BusFailure
      do throws(BusFailure) {
        return try body(connection, call)
      } catch {
        guard error.kind == .connectionLost || error.kind == .foreignKey else { throw error }
        forget(connection)
        first = error
      }
      do throws(BusFailure) {
        return try body(try current(call), call)
      } catch {
        // The outcome of a write stays unknown, even if the search for its result failed in another
        // way.
        throw first.error.code == .outcomeUnknown ? first : error
      }
    } catch {
      throw call.hasWritten ? error.afterWriting : error.error
    }
  }

  /// Checks that a bus answers at the address, whatever services it has.
  func reachBus(_ access: KeyringAccess) throws(StorageError) {
    try Self.refuseInChild()
    let address = try address()
    do throws(BusFailure) {
      try BusConnection.reach(address, Call(access))
    } catch {
      throw error.error
    }
  }

  /// The current connection.
  ///
  /// Threads that find no connection at the same time make one each, and all but the first are
  /// closed: so no thread waits for another's deadline.
  func current(_ call: Call) throws(BusFailure) -> BusConnection {
    try storage { () throws(StorageError) in try Self.refuseInChild() }
    if let connection = connection.withLock({ $0 }) { return connection }
    let address: String
    do throws(StorageError) { address = try self.address() } catch {
      throw BusFailure(.other, error)
    }
    let new = try BusConnection(address, call)
    return connection.withLock { connection in
      connection = connection ?? new
      return connection!
    }
  }

  private func forget(_ lost: BusConnection) {
    connection.withLock { connection in
      if connection === lost { connection = nil }
    }
  }

  /// Whether this is a child of fork(2) of the process that called first.
  static var isInChild: Bool { !process.isCurrent }

  /// A child of fork(2) lacks the threads of libsecret and GLib: a call there would wait for ever.
  private static func refuseInChild() throws(StorageError) {
    guard !isInChild else {
      throw StorageError(
        .unsupported,
        "the keyring can't be used in a forked child of a program that uses it; exec first")
    }
  }
}
