internal import CryptoCore
internal import StorageCore

/// The latest commits that this process has seen in one place, of each store that was there.
///
/// A file that is put back whole looks like one that nobody has changed, but for those who have seen
/// what came after it. They remember for as long as the process runs.
final class SeenCommits: Sendable {
  /// The id of a store, which is in the clear in its header: docs/file-format.md, section "Header".
  struct Store: Hashable {
    private let first: UInt64
    private let last: UInt64

    /// The store of a header, or nil for what is none.
    init?(header: [UInt8]) {
      guard header.count >= 21 else { return nil }
      func word(_ range: Range<Int>) -> UInt64 { header[range].reduce(0) { $0 << 8 | UInt64($1) } }
      (first, last) = (word(5..<13), word(13..<21))
    }
  }

  /// Numbers of commits; 0 for none.
  struct Numbers {
    /// Of rows, which anybody can write.
    var rows: Int64 = 0
    /// Of a manifest, which only those with the keys can; nil where it can't be read.
    var manifest: Int64? = nil

    /// The greatest.
    var greatest: Int64 { max(rows, manifest ?? 0) }

    /// What went back from these to `others`: manifests are compared if there are two, else rows.
    func isAhead(of others: Numbers) -> (from: Int64, to: Int64)? {
      let isAuthentic = others.manifest != nil
      let (from, to) = isAuthentic ? (manifest ?? 0, others.manifest ?? 0) : (rows, others.rows)
      return to < from ? (from, to) : nil
    }
  }

  /// The latest commits of all stores at one time.
  typealias Past = [Store: Numbers]

  private static let places = Lock<[VaultFile: SeenCommits]>([:])

  /// What was seen in the place of a file.
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

  /// The last restoration or repair that this process made or found, and the check value of the root key.
  var restoration: (number: Int, root: [UInt8])? { restored.withLock { $0 } }

  /// Notes that a header is put in its place by somebody with the keys.
  func noteRestoration(of header: [UInt8]) {
    guard let root = HeaderChange.rootCheck(of: header) else { return }
    restored.withLock { $0 = (($0?.number ?? 0) + 1, root) }
  }

  /// The numbers of the latest commits.
  ///
  /// To be asked for before a state of the file is looked at: that one can't be older then.
  var all: Past { latest.withLock { $0 } }

  /// The greatest number of all.
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
