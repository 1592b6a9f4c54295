internal import Foundation

/// A private D-Bus daemon, in a folder that nobody else can look into.
///
/// It starts no service unless you give it a command. The daemon and its folder are removed with
/// the last reference, and when the process ends, even by a kill. Any thread may use it.
public final class PrivateBus: Sendable {
  /// Where it listens, as for `DBUS_SESSION_BUS_ADDRESS`; the same after a restart.
  public let address: String

  private let folder: TemporaryFolder
  private let configuration: String
  private let daemon = Guarded<ChildProcess?>(nil)

  /// Starts a bus.
  ///
  /// - Parameter services: the command that starts each service when its name is requested.
  /// - Throws: ``KeyringTestingError`` when it does not answer within 30 seconds.
  public init(starting services: [String: String] = [:]) throws {
    folder = try TemporaryFolder()
    address = "unix:path=\(folder.path)/bus"
    let serviceFolder = try folder.makeFolder("services")
    for (name, command) in services {
      let description = "[D-BUS Service]\nName=\(name)\nExec=\(command)\n"
      _ = try folder.write(description, to: "services/\(name).service")
    }
    configuration = try folder.write(
      """
      <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
       "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
      <busconfig>
        <type>session</type>
        <keep_umask/>
        <listen>\(address)</listen>
        <auth>EXTERNAL</auth>
        <servicedir>\(serviceFolder)</servicedir>
        <policy context="default">
          <allow send_destination="*" eavesdrop="true"/>
          <allow eavesdrop="true"/>
          <allow own="*"/>
        </policy>
        <limit name="max_incoming_bytes">1000000000</limit>
        <limit name="max_outgoing_bytes">1000000000</limit>
        <limit name="max_message_size">134217728</limit>
        <limit name="max_completed_connections">10000</limit>
        <limit name="max_connections_per_user">10000</limit>
        <limit name="max_replies_per_connection">50000</limit>
        <limit name="max_match_rules_per_connection">50000</limit>
      </busconfig>
      """, to: "bus.conf")
    try start()
  }

  /// The environment variables that a client needs to use this bus.
  public var environment: [String: String] { ["DBUS_SESSION_BUS_ADDRESS": address] }

  /// Ends the bus as a logout does; those connected to it see their connections end.
  public func stop() { end(with: SIGTERM) }

  /// Ends the bus at once.
  package func kill() { end(with: SIGKILL) }

  /// Ends the bus, if it runs, and starts another one at the same address.
  ///
  /// - Throws: ``KeyringTestingError`` when it does not answer within 30 seconds.
  public func restart() throws {
    kill()
    try start()
  }

  /// Stops the bus without ending it: it accepts connections and calls, but answers nothing.
  package func suspend() { daemon.withLock { $0?.suspend() } }

  /// Lets a suspended bus go on.
  package func resume() { daemon.withLock { $0?.send(SIGCONT) } }

  /// A new connection.
  func connect() throws(KeyringTestingError) -> BusConnection { try BusConnection(address) }

  private func start() throws(KeyringTestingError) {
    // Otherwise the old bus's socket would be taken for the new one's.
    unsafe unlink(folder.path + "/bus")
    let child = try ChildProcess(
      ["dbus-daemon", "--config-file=\(configuration)", "--nofork", "--nopidfile"],
      environment: plainEnvironment, log: folder.path + "/log")
    let answers = Deadline(.seconds(30)).holds {
      // The reason for a missing answer does not matter yet; in the end the log says more.
      (try? BusConnection(address, within: .seconds(1))) != nil
        || child.hasEnded
    }
    guard answers, !child.hasEnded else {
      throw KeyringTestingError("dbus-daemon does not answer: \(folder.contents(of: "log"))")
    }
    daemon.withLock { $0 = child }
  }

  private func end(with signal: Int32) {
    let child = daemon.withLock { daemon in
      defer { daemon = nil }
      return daemon
    }
    // A suspended process reacts only to SIGKILL until it continues.
    child?.send(SIGCONT)
    child?.send(signal)
    if child?.hasEnded(within: .seconds(2)) == false { child?.kill() }
  }
}
