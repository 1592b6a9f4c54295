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
  /// Why it may lose commits that it has acknowledged; nil if each is on a standby, too.
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
    return engine.hostTexts.indices.map { engine.server($0) }
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
      try connection.ask(PostgresStatements.server, by: deadline) { words = $0.texts }
    } catch {
      failure = error.error(of: .read, at: hostTexts[host])
    }
    let isPrimary = words[1] == "false"
    return PostgresServer(
      address: hostTexts[host], failure: failure, version: words[0], isPrimary: isPrimary,
      timeline: Int(words[2], radix: 16) ?? 0, caution: isPrimary ? Self.caution(words) : nil,
      latency: .nanoseconds(MonotonicTime.now.since(start)))
  }
}
