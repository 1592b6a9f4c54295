internal import ArgumentParser
internal import Foundation
internal import LocalData
internal import StorageCore

/// Replaces every key of an application's typed storage.
struct RotateLocalDataCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rotate",
    abstract: "Replace all keys of an application's typed storage, and seal all values again.",
    discussion: """
      Use it after a key leaked. It replaces the keys of every vault, suite and sealed folder, the master \
      key, and the keys of groups. Only the new key opens the stores afterwards (or, with --same-key, the \
      present one). The command asks first, unless --yes is given. If it is interrupted, run it again with \
      the same options. The application can be used meanwhile, if it lists the new key before the old one. \
      If values may be out of reach, nothing is changed: mount every disk, and let the application adopt \
      moved folders. Values that can't be read stay as they are, and the exit code says why.
      """)

  @Flag(name: .customLong("names"), help: "Also hash the names again, where a store does that.")
  var replacesNames = false

  @Flag(name: .customLong("same-key"), help: "Keep the key that opens the stores.")
  var keepsKey = false

  @Flag(
    name: .customLong("abandon-missing"),
    help: "Give up values that are missing or can't be read; they are named.")
  var abandonsMissing = false

  @OptionGroup(title: "Application") var options: CatalogOptions
  @OptionGroup(title: "Key") var key: KeyOptions
  @OptionGroup(title: "New key") var newKey: NewKeyOptions
  @OptionGroup var consent: ConsentOptions
  @OptionGroup(title: "Output") var output: OutputOptions

  func run() throws {
    let choice = try newKey.choice()
    guard (choice != nil) != keepsKey else {
      throw Failure(
        .usage,
        "say which key opens the stores afterwards: give one --new- option, or --same-key if the present key "
          + "is still secret")
    }
    try refuseSameFile()
    let catalog = try options.read()
    let source = try choice?.source(
      for: catalog.place, opening: nil, option: "--new-passphrase", warning: output.output)
    let keySource = try catalog.keySource(key)
    try confirm(catalog.application)
    output.output.note(
      "if this is interrupted, run it again with the same options; the application has to list both keys, the "
        + "new one first")
    let file = try NewKeyFile(
      at: try choice.flatMap { try catalog.place.keyFile(of: $0) }, for: catalog.place)
    let report = try file.making(output.output) {
      try Progress.showing("rotate", output.output) { progress in
        let show = ProgressCall(progress)
        return try catalog.file.rotate(
          applicationID: catalog.application, keySource: keySource, folder: catalog.folder,
          openedBy: source, names: replacesNames, abandoningMissing: abandonsMissing,
          progress: { show.tell($0, $1) })
      }
    }
    try file.noteMade(output.output)
    try answer(report)
  }

  /// Hands progress on; the rotation calls it from the thread of the command.
  private struct ProgressCall: @unchecked Sendable {
    // The command's thread calls it while it waits for the rotation, and no other thread does.
    private let call: (Int, Int) -> Void

    init(_ call: @escaping (Int, Int) -> Void) { self.call = call }

    func tell(_ done: Int, _ total: Int) { call(done, total) }
  }

  private func refuseSameFile() throws {
    guard let new = newKey.newKeyFile, let old = key.keyFile,
      try Path.absolute(new).isExactly(Path.absolute(old))
    else { return }
    throw Failure(
      .usage,
      "that key file opens the stores now; give another, or --same-key if it is still secret",
      path: try Path.absolute(new))
  }

  private func confirm(_ application: String) throws {
    let question =
      keepsKey
      ? "every other key, such as a recovery key, will no longer open the stores of \(application)"
      : "only the new key will open the stores of \(application)"
    guard !consent.isConfirmed else { return }
    try Terminal.requireConsent(question + ". Go on?", nil, otherwise: question)
  }

  private func answer(_ report: StorageRotationReport) throws {
    try output.output.done(
      "\(Printable.count(report.stores.count, "store")) and \(Printable.count(report.keys.count, "key")) "
        + "got new keys, and \(Printable.count(report.resealed, "value")) under these keys "
        + "\(report.resealed == 1 ? "was" : "were") sealed again", json(report))
    for left in report.abandoned {
      output.output.note(
        Printable.line("\(left.name) in \(left.place) was abandoned: \(left.error.message)"))
    }
    for name in report.external {
      output.output.note(
        "\(Printable.line(name)) is under a passcode or a provider's key material, and was not changed"
      )
    }
    guard report.isComplete else {
      var leftOut = LeftOut()
      for left in report.left { leftOut.add(left.name, ExitStatus(left.error.code)) }
      throw Failure(leftOut.status ?? .unsound, Self.left(report).joined(separator: "; "))
    }
    guard !keepsKey else { return }
    output.output.note(
      "check that the application uses the new key, and no longer lists the old one; the old key still opens "
        + "older backups")
  }

  /// What was left as it is, a sentence for each.
  private static func left(_ report: StorageRotationReport) -> [String] {
    report.left.map {
      Printable.line("\($0.name) in \($0.place) stays as it is: \($0.error.message)")
    }
      + report.stores.filter { $0.setAside > 0 || !$0.remaining.isEmpty }.map { store in
        let count = Printable.count(store.setAside + store.remaining.count, "value")
        return Printable.line("\(store.name): \(count) can't be read; see verify and files verify")
      }
  }

  private func json(_ report: StorageRotationReport) -> JSONValue {
    func values(_ left: [StorageRotationReport.Left]) -> [JSONValue] {
      left.map { ["name": $0.name, "place": $0.place, "message": $0.error.message] }
    }
    let stores = report.stores.map { store -> JSONValue in
      [
        "name": store.name, "reencrypted": store.reencrypted, "setAside": store.setAside,
        "remaining": store.remaining,
      ]
    }
    return [
      "stores": stores, "keys": report.keys, "resealed": report.resealed,
      "left": values(report.left), "abandoned": values(report.abandoned),
      "external": report.external,
    ]
  }
}
