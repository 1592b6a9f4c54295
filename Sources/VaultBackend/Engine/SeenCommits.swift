internal import CryptoCore
internal import StorageCore

/// The latest commits that this process has seen in one place, for each store that was there.
///
/// A file that is put back whole looks unchanged. Only a process that has seen later commits can
/// tell, so each process remembers them as long as it runs.
final class SeenCommits: Sendable {
  /// The id of a store, which is in the clear in its header: docs/file-format.md, section "Header".
  struct Store: Hashable {
    private let first: UInt64
    private let last: UInt64

    /// The store of a header, or nil if the bytes are no header.
    init?(header: [UInt8]) {
      guard header.count >= 21 else { return nil }
      func word(_ range: Range<Int>) -> UInt64 { header[range].reduce(0) { $0 << 8 | UInt64($1) } }
      (first, last) = (word(5..<13), word(13..<21))
    }
  }

  /// Commit numbers; 0 for none.
  struct Numbers {
    /// The greatest number of a row, which anybody can write.
    var rows: Int64 = 0
    /// The number of the manifest, which only somebody with the keys can write; nil if it can't be
    /// read.
    var manifest: Int64? = nil

    /// The greatest.
    var greatest: Int64 { max(rows, manifest ?? 0) }

    /// The numbers that went back from these to `others`: of the manifests if both are known, else
    /// of the rows.
    func isAhead(of others: Numbers) -> (from: Int64, to: Int64)? {
      let isAuthentic = others.manifest != nil
      let (from, to) = isAuthentic ? (manifest ?? 0, others.manifest ?? 0) : (rows, others.rows)
      return to < from ? (from, to) : nil
    }
  }

  /// The latest commits of all stores at one time.
  typealias Past = [Store: Numbers]

  private static let places = Lock<[VaultFile: SeenCommits]>([:])

  /// The commits that were seen in the place of a file.
  static func of(_ file: VaultFile) -> SeenCommits {
    places.withLock { places in
      if let known = places[file] { return known }
      let new = SeenCommits()
      places[file] = new
      return new
    }
  }

  private let latest = Lock<Past>([:])

  private let restored = Lock<(number: Int, root: [UInt8])?>(nil)

  /// The number of the last restore or repair that this process made or found, and the check value
  /// of its root key.
  var restoration: (number: Int, root: [UInt8])? { restored.withLock { $0 } }

  /// Notes that somebody with the keys put this header in place.
  func noteRestoration(of header: [UInt8]) {
    guard let root = HeaderChange.rootCheck(of: header) else { return }
    restored.withLock { $0 = (($0?.number ?? 0) + 1, root) }
  }

  /// Notes that the header that a connection sees was put there on purpose.
  func noteRestoration(in connection: Connection) throws(StorageError) {
    if let header = try VaultRows.header(connection) { noteRestoration(of: header) }
  }

  /// The latest commit in `past` of the store that a connection sees.
  ///
  /// Ask for `past` before the connection reads that state.
  static func latest(
    in connection: Connection, _ past: Past
  ) throws(StorageError) -> Numbers {
    let header = try VaultRows.header(connection)
    return header.flatMap { Store(header: $0) }.flatMap { past[$0] } ?? Numbers()
  }

  /// The numbers of the latest commits.
  ///
  /// Ask for them before looking at a state of the file: an honest state can't be older then.
  var all: Past { latest.withLock { $0 } }

  /// The greatest number of all stores.
  var greatest: Int64 { all.values.map(\.greatest).max() ?? 0 }

  /// Remembers that a commit was seen.
  func see(_ numbers: Numbers, of store: Store) {
    latest.withLock { latest in
      let known = latest[store, default: Numbers()]
      let manifest = numbers.manifest.map { max($0, known.manifest ?? 0) } ?? known.manifest
      latest[store] = Numbers(rows: max(numbers.rows, known.rows), manifest: manifest)
    }
  }
}
