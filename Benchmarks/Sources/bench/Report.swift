import CFloor
import Foundation

/// The results as Markdown.
struct Report {
  let results: [Result]
  let threads: [Contention.Line]
  let visits: [EntryVisit]
  let figures: [Figure]
  let injection: [Figure]
  let live: [Figure]
  let fleet: [Figure]
  let scaling: [Figure]
  let large: [Figure]
  let pairs: Int

  func write(to path: String) throws {
    try (text + Self.lastPart(of: path)).write(toFile: path, atomically: true, encoding: .utf8)
  }

  /// The part that another program measures and somebody writes: it stays as it is.
  private static func lastPart(of path: String) throws -> String {
    guard FileManager.default.fileExists(atPath: path) else { return "" }
    let old = try String(contentsOfFile: path, encoding: .utf8)
    guard let start = old.range(of: "\n## A program's size and start\n") else { return "" }
    return String(old[start.lowerBound...])
  }

  private var text: String {
    """
    # Benchmarks

    Measured by `make bench BENCH_ARGS='--report docs/benchmarks.md'` on \(Machine.date).

    \(Machine.facts.map { "- \($0.0): \($0.1)" }.joined(separator: "\n"))

    A batch of the call and a batch of its floor, about 2 ms each, take turns \(pairs) times. The
    times are medians of the batches, in processor time of the thread; the ratio is the median of
    the pairs' ratios, so that a slow moment of the machine slows both. With `--check`, a missed
    target is measured once more, twice as long, and the better result counts.

    The floor is a loop in C over EVP with a reused context, the same 112 bytes of associated data
    and the same calls for the tag. The loop takes its nonce from a counter and writes into one
    buffer. For `@Singleton` and `@UserDefault` it handles only the 32 bytes of the text, without
    the name and the type that a record also contains. A partial cipher block costs EVP 20 to 30 ns
    more than none. The String's key has a length that makes its 48 bytes whole blocks, like the
    floor's 32. The rows "part of a block" below show the same with a key of another length. That is
    the usual case, and the one to expect in a program.

    Allocations are the call's calls of `malloc`. An interposer counts them; it first proves itself
    on a known number of allocations.

    ## Beside its peers

    The times are those of the tables below. All peers do the same work as far as they can: SQLite
    encrypts nothing, and only `@Vault` keeps a manifest that shows a row put back.

    ![One call, with this package and with others: a shorter bar is faster](benchmarks/peers.svg)

    ## Calls with a target

    | call | floor | floor, ns | ours, ns | ratio | target | allocations |
    |---|---|---:|---:|---:|---:|---:|
    \(rows { $0.comparison.part == .calls && $0.comparison.target != nil })

    ## For comparison

    | call | floor | floor, ns | ours, ns | ratio | | allocations |
    |---|---|---:|---:|---:|---:|---:|
    \(rows { $0.comparison.part == .calls && $0.comparison.target == nil })

    ## Wall time, and several threads on one key

    Wall time divided by the calls of all threads, for a `String` of 32 bytes. A durable write waits
    for the disk.

    | | ns a call |
    |---|---:|
    \(threads.map { "| \($0.name) | \(shown($0.nanoseconds, 0)) |" }.joined(separator: "\n"))

    ## Reads with two threads

    How many values two threads read in the time in which one thread reads one, in wall time. A bare
    EVP loop on two threads, each with a context of its own, shows what the machine's two cores
    allow.

    \(scaling.map { "- \($0.name): \(shown($0.value, 2)) \($0.unit)\($0.target)" }
      .joined(separator: "\n"))

    ## The vault

    The files are on \(Disk.fileSystem). Reads are in processor time, writes in wall time, unless a
    row says otherwise. The peers are \(Peer.versions.joined(separator: " and ")), through C with
    prepared statements, with a write-ahead log and synchronous = FULL; SQLCipher has a raw key.
    There are 1,000 rows in each. A durable write is a transaction of two rows: the record, which is
    a `String` of 32 bytes sealed into 82 (SQLCipher, which seals by itself, gets the 32), and a
    manifest of 1,153 bytes. Unless said otherwise, bare SQLite has the vault's tables, indices and
    statements. Like all peers it has its own pages of 4 KiB, where a vault has pages of 2 KiB. A
    plain table is `record (name BLOB PRIMARY KEY, value BLOB)`, which has no sequence numbers by
    which other processes find what changed. "Others written" means that another process writes 100
    other keys a second to the same vault. The transactions of 1,000 writes all use the same names.
    The vault remembers the names' hashes, and each record's share of the manifest, from one
    transaction to the next.

    | call | against | that, ns | ours, ns | ratio | target | allocations |
    |---|---|---:|---:|---:|---:|---:|
    \(rows { $0.comparison.part == .vault })

    ### Many entries

    The vaults have entries of 32 bytes. Opening lasts from the start to the first value, in a
    process of its own, with the file in the system's cache. Memory is the growth of that process's
    resident size while every entry was read once. An entry is read by `storage.load(String.self,
    forKey:)`, which hashes its key each time.

    | entries | file, bytes | opening, ms | memory, bytes | memory to file | first read, ns | warm read, ns |
    |---:|---:|---:|---:|---:|---:|---:|
    \(visitRows)

    \(figures.map { "- \($0.name): \(shown($0.value, 2)) \($0.unit)\($0.target)" }
      .joined(separator: "\n"))

    ![Warm read of any entry](benchmarks/vault-read.svg)

    ![Opening, up to the first value](benchmarks/vault-opening.svg)

    ![Memory when all entries were read, to the file's size](benchmarks/vault-memory.svg)

    ### Large files and many names in sealed folders

    A file of 1 GiB is put into a folder and read back, in wall time, the median of three. The file
    is durable before the clock stops, and the files are in the system's cache. EVP is the same
    cipher in a loop over segments of 64 KiB with the same reads and writes, on one thread. Memory
    is the growth of a process's largest resident size while it put and got 2 GiB.

    \(large.map { "- \($0.name): \(shown($0.value, 2)) \($0.unit)\($0.target)" }
      .joined(separator: "\n"))

    ## A store that machines share

    Three members of etcd, or one server of PostgreSQL with its own settings, on this machine, with
    their data on its disk. etcd's bare client sends a transaction of one comparison and one put of
    as many bytes through the same gRPC library. PostgreSQL's bare client sends a prepared statement
    through the same libpq, which puts as many bytes and, as ours, a second row of 16 bytes; a write
    of ours also checks a third row, and is not prepared. A change is seen by 20 processes that
    follow one value; the time begins with the return of the write, and the 99th of a hundred is
    taken of all processes and 100 changes. The 100,000 values have 300 bytes each, and the time
    ends with the first value that a new process reads.

    | call | against | that, ns | ours, ns | ratio | target | allocations |
    |---|---|---:|---:|---:|---:|---:|
    \(rows { $0.comparison.part == .fleet })

    \(fleet.map { "- \($0.name): \(shown($0.value, 2)) \($0.unit)\($0.target)" }
      .joined(separator: "\n"))

    ## Live properties

    A read reads an observed value in memory; the floor has the same `ObservationRegistrar.access`
    and a `Synchronization.Mutex` around the value. Writes are durable, of two values in turn, in
    wall time. swift-sharing's `@Shared`, the closest peer, is not measured: it is no dependency of
    this package, and was not available where this page was made.

    | call | against | that, ns | ours, ns | ratio | target | allocations |
    |---|---|---:|---:|---:|---:|---:|
    \(rows { $0.comparison.part == .live })

    Threads that read one live value at once take turns at its lock.

    \(live.map { "- \($0.name): \(shown($0.value, 2)) \($0.unit)\($0.target)" }
      .joined(separator: "\n"))

    ## The keyring

    Times are wall time against a real gnome-keyring-daemon on a private bus, with the given number
    of items in its collection in memory. The first floor is a search for the record, and one call
    for its secret and the header's, on an open session: a read that knows only the name must do
    that. Our first read does the same. Our second read skips the search and asks for the two
    secrets at their known places; each secret names its owner. The second floor is that one call.
    The other rows read a plain secret: libsecret with a new session for each read, `secret-tool` as
    a process for each, and Python's package `keyring`.

    | call | against | that, ns | ours, ns | ratio | target | allocations |
    |---|---|---:|---:|---:|---:|---:|
    \(rows { $0.comparison.part == .keyring })

    ## Injection

    A read of a dependency that was built before is compared with a dictionary of types behind a
    `Synchronization.Mutex`, which gives the same existential. Each round calls a method on the
    result. "Opaque" means through a generic function that is not specialised; "overridden" means
    that a task-local override is active, of this dependency or of another one.

    | call | against | that, ns | ours, ns | ratio | target | allocations |
    |---|---|---:|---:|---:|---:|---:|
    \(rows { $0.comparison.part == .injection })

    \(injection.map { "- \($0.name): \(shown($0.value, 0)) \($0.unit)\($0.target)" }
      .joined(separator: "\n"))

    """
  }

  private var visitRows: String {
    visits.map { visit in
      "| \(visit.count) | \(visit.fileSize) | \(shown(visit.opening, 1)) | \(visit.growth) "
        + "| \(shown(visit.growthRatio, 2)) | \(shown(visit.firstRead, 0)) "
        + "| \(shown(visit.warmRead, 0)) |"
    }
    .joined(separator: "\n")
  }

  private func rows(_ isIncluded: (Result) -> Bool) -> String {
    results.filter(isIncluded).map { result in
      let target = result.targets.map { "≤ " + $0 } ?? ""
      return "| \(result.comparison.name) | \(result.comparison.floorName) "
        + "| \(shown(result.floor, 0)) | \(shown(result.ours, 0)) | \(shown(result.ratio, 2)) "
        + "| \(target) | \(shown(result.allocations, 1)) |"
    }
    .joined(separator: "\n")
  }
}

extension Result {
  /// One line for the terminal.
  var line: String {
    let verdict =
      targets.map { "target \($0) \(isOnTarget ? "met" : "MISSED")" } ?? ""
    return padded(comparison.name, 43) + shown(floor, 0, width: 8) + " ns "
      + shown(ours, 0, width: 8) + " ns  ratio " + shown(ratio, 3) + "  allocations "
      + shown(allocations, 1) + "  " + verdict
  }
}

/// What the results were measured on: the kind, and nothing that tells one machine from another.
private enum Machine {
  static var date: String {
    Date.now.formatted(.iso8601.year().month().day())
  }

  static var facts: [(String, String)] {
    [
      ("Processor", processor),
      ("Cores", "\(ProcessInfo.processInfo.activeProcessorCount), shared with others"),
      ("Kernel", kernel),
      ("Library", unsafe String(cString: floor_library_version())),
      ("Compiler", compiler),
    ]
  }

  private static var processor: String {
    let facts = (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8)) ?? ""
    let line = facts.split(separator: "\n").first { $0.hasPrefix("model name") }
    let name = line?.split(separator: ":").last ?? " unknown"
    return name.trimmingCharacters(in: .whitespaces)
  }

  /// The release number without what a distributor or a host appends.
  private static var kernel: String {
    let version = (try? String(contentsOfFile: "/proc/sys/kernel/osrelease", encoding: .utf8)) ?? ""
    return "Linux " + (version.split(separator: "-").first ?? "").trimmingCharacters(in: .newlines)
  }

  private static var compiler: String {
    #if compiler(>=6.4)
      "Swift 6.4 or newer"
    #elseif compiler(>=6.3.1)
      "Swift 6.3.1"
    #else
      "Swift 6.2"
    #endif
  }
}

/// A number with `digits` behind the point.
func shown(_ number: Double, _ digits: Int, width: Int = 0) -> String {
  let text = String(format: "%.\(digits)f", number)
  return String(repeating: " ", count: max(0, width - text.count)) + text
}

/// Text with blanks behind it.
func padded(_ text: String, _ width: Int) -> String {
  text + String(repeating: " ", count: max(0, width - text.count))
}
