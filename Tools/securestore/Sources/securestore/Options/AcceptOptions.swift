internal import ArgumentParser
internal import VaultBackend

/// A kind of finding, as `verify` names it.
struct FindingKind: ExpressibleByArgument {
  let kind: VaultReport.Finding.Kind

  init?(argument: String) {
    guard let kind = VaultReport.Finding.Kind(rawValue: argument) else { return nil }
    self.kind = kind
  }

  static var allValueStrings: [String] { VaultReport.Finding.Kind.allCases.map(\.rawValue) }
}

/// The kinds of findings that the operator accepts without being asked.
struct AcceptOptions: ParsableArguments {
  @Option(
    name: .customLong("accept"),
    help: ArgumentHelp(
      "Accept findings of this kind, as verify names them; may be repeated.", valueName: "kind"))
  private var given: [FindingKind] = []

  /// What a repair is for.
  ///
  /// Everything else can mean that somebody put back, removed or added a value.
  private static let harmless: Set<VaultReport.Finding.Kind> = [
    .damagedFile, .damagedRecord, .strayRow,
  ]

  var kinds: Set<VaultReport.Finding.Kind> { Set(given.map(\.kind)) }

  /// Refuses to accept, without a question, findings that nobody has named.
  ///
  /// - Parameters:
  ///   - report: what was found.
  ///   - path: the vault, for the error.
  /// - Throws: `Failure`: `unsound` if there are such findings.
  func requireNamed(_ report: VaultReport, _ path: String) throws {
    let others = report.findings(besides: Self.harmless.union(kinds))
    guard !others.isEmpty else { return }
    let options = Set(others.map { "--accept \($0.kind.rawValue)" }).sorted().joined(separator: " ")
    throw Failure(
      .unsound,
      Printable.line(
        "nothing was changed. --yes does not accept what somebody may have done without the keys: "
          + others.map { "\($0.kind.rawValue): \($0.message)" }.joined(separator: "; ")
          + ". Look at it with verify, or restore a backup. To accept it, add \(options)"),
      path: path)
  }
}
