internal import CryptoCore
internal import RemoteBackend
public import StorageCore

/// What one server of PostgreSQL says about itself.
public struct PostgresServer: Sendable {
  /// Its host and port, as the connection names them.
  public let address: String
  /// Why it did not answer; nil if it did, and then the rest says something.
  public let failure: StorageError?
  /// PostgreSQL's version.
  public let version: String
  /// Whether it can be written to; the others are standbys.
  public let isPrimary: Bool
  /// The number of its history, which each promotion makes larger.
  public let timeline: Int
  /// Why it may lose commits that it has acknowledged, or can't acknowledge any; nil if each is on a
  /// standby, too.
  public let caution: String?
  /// How long its answer took.
  public let latency: Duration
}

extension PostgresStorage {
  /// Asks each server of the connection about itself; needs no key.
  ///
  /// - Throws: `StorageError` for a configuration that is wrong.
  public func servers() throws(StorageError) -> [PostgresServer] {
    let place = try delegate.place() as RemotePlace
    guard let engine = place.engine as? PostgresEngine else { return [] }
    try engine.require(engine.process, of: "PostgreSQL")
    let servers = engine.hostTexts.indices.map { engine.server($0) }
    let newest = servers.filter(\.isPrimary).max { $0.timeline < $1.timeline }
    return servers.map { server in
      guard let newest, server.isPrimary, server.timeline < newest.timeline else { return server }
      return server.replaced(by: newest)
    }
  }
}

extension PostgresServer {
  /// An old primary that does not know of its standby's promotion.
  fileprivate func replaced(by newest: PostgresServer) -> PostgresServer {
    PostgresServer(
      address: address, failure: failure, version: version, isPrimary: isPrimary,
      timeline: timeline,
      caution:
        "\(newest.address) has replaced it as the primary: stop it, and make it a standby, as by "
        + "pg_rewind", latency: latency)
  }
}

extension PostgresEngine {
  fileprivate func server(_ host: Int) -> PostgresServer {
    let start = MonotonicTime.now
    var words = PostgresStatements.noFacts
    var failure: StorageError?
    do throws(PostgresFailure) {
      let deadline = Deadline(after: .seconds(3))
      let connection = try connect(host, writing: false, by: deadline)
      try connection.ask(PostgresStatements.server, by: deadline) {
        words = $0.texts(words.count)
      }
    } catch {
      failure = error.error(of: .read, at: hostTexts[host])
    }
    let isPrimary = words[1] == "false"
    return PostgresServer(
      address: hostTexts[host], failure: failure, version: words[0], isPrimary: isPrimary,
      timeline: Int(words[2], radix: 16) ?? 0,
      caution: isPrimary ? Self.caution(words) ?? Self.waiting(words) : nil,
      latency: .nanoseconds(MonotonicTime.now.since(start)))
  }

  /// Why a primary that needs standbys acknowledges no commit.
  private static func waiting(_ facts: [String]) -> String? {
    facts[6] == "0"
      ? "no standby is connected, so commits wait for one (synchronous_standby_names)" : nil
  }
}
