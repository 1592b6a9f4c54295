#if Server
  import StorageTesting
  import CryptoCore
  import Foundation
  import Logging
  import StorageCore
  import VaultBackend

  let key = SymmetricKey(data: Data(repeating: 9, count: 32))

  /// A folder of a test's own.
  final class TestFolder: Sendable {
    let url: URL

    init() throws {
      url = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
      try FileManager.default.createDirectory(
        at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    deinit { try? FolderRemoval.remove(url) }

    var vaultURL: URL { url.appendingPathComponent("test.vault") }

    func vault(_ source: KeySource = .key(key)) -> VaultStorage {
      VaultStorage(at: vaultURL, keySource: source)
    }
  }

  /// Keeps what is logged.
  struct Recorder: LogHandler {
    struct Entry: Sendable {
      let level: Logger.Level
      let message: String
      let metadata: Logger.Metadata
    }
    final class Entries: Sendable {
      let all = Lock<[Entry]>([])
      var texts: [String] {
        all.withLock { $0.map { "\($0.level) \($0.message) \($0.metadata)" } }
      }
    }
    let entries: Entries
    var logLevel = Logger.Level.trace
    var metadata = Logger.Metadata()

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
      entries.all.withLock {
        $0.append(
          Entry(
            level: event.level, message: "\(event.message)", metadata: event.metadata ?? [:]))
      }
    }

    static func logger() -> (Logger, Entries) {
      let entries = Entries()
      return (Logger(label: "test") { _ in Recorder(entries: entries) }, entries)
    }
  }

  /// Waits until `condition` holds.
  func waits(until condition: () -> Bool) async throws {
    while !condition() { try await Task.sleep(for: .milliseconds(5)) }
  }
#endif
