extension StorageAuditReport {
  /// The report as one self-contained HTML page: no script, no network, no other file.
  ///
  /// It reads at the width of a phone and prints on paper. Plaintext has a column of its own.
  public var html: String {
    """
    <!DOCTYPE html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
    <title>\(AuditText.html(title))</title>
    <style>
    \(Self.style)
    </style>
    </head>
    <body>
    <h1>\(AuditText.html(title))</h1>
    <p>\(AuditText.html(summary)).</p>
    \(findingsTable)
    <h2>Keys</h2>
    \(keysTable)
    <h2>How to read this</h2>
    \(legend)
    </body>
    </html>

    """
  }

  private static let style = """
    :root { color-scheme: light dark; --line: #8888; --bad: #c62828; --ok: #2e7d32 }
    body { font: 15px/1.45 system-ui, sans-serif; margin: 1rem auto; max-width: 90rem; padding: 0 1rem }
    h1 { font-size: 1.5rem } h2 { font-size: 1.15rem; margin-top: 2rem }
    table { border-collapse: collapse; width: 100% }
    th, td { border-bottom: 1px solid var(--line); padding: .4rem .6rem; text-align: left;
      vertical-align: top; overflow-wrap: anywhere }
    th { font-size: .85rem }
    code { font: .92em ui-monospace, monospace }
    .bad { color: var(--bad); font-weight: 600 } .ok { color: var(--ok) }
    dt { font-weight: 600 } dd { margin: 0 0 .5rem }
    @media (max-width: 60rem) {
      thead { display: none }
      table, tbody, tr, td { display: block }
      tr { border: 1px solid var(--line); border-radius: .4rem; margin: 0 0 1rem; padding: .3rem 0 }
      td { border: 0; padding: .15rem .7rem }
      td::before { content: attr(data-label) ": "; font-weight: 600 }
    }
    @media print {
      :root { color-scheme: light }
      body { font-size: 9pt; margin: 0; max-width: none }
      thead { display: table-header-group }
      tr { break-inside: avoid }
    }
    """

  private var findingsTable: String {
    guard !findings.isEmpty else { return "<h2>Findings</h2>\n<p class=\"ok\">None.</p>" }
    let rows = findings.map { finding in
      let key = [finding.domain, finding.name].compactMap(\.self).joined(separator: "/")
      return Self.row([
        ("Finding", Self.marked(finding.kind.rawValue, "bad")), ("Key or entry", Self.code(key)),
        ("Place", Self.code(finding.place)), ("What was found", AuditText.html(finding.message)),
      ])
    }
    return "<h2>Findings</h2>\n"
      + Self.table(["Finding", "Key or entry", "Place", "What was found"], rows)
  }

  private var keysTable: String {
    var heads = ["Key", "Plaintext", "Data", "Owner", "Protection", "Type", "Machines", "Sync"]
    if isLive { heads += ["State", "Stored as", "Size", "Changed", "Place"] }
    return Self.table(heads, keys.map { Self.row(cells(of: $0)) })
  }

  private func cells(of entry: StorageAuditEntry) -> [(String, String)] {
    let key = entry.key
    let name = Self.code(key.name) + "<br><small>\(AuditText.html("\(key.domain)"))</small>"
    let plaintext = entry.isPlaintext ? Self.marked("PLAINTEXT", "bad") : "no"
    var cells = [("Key", name), ("Plaintext", plaintext)]
    cells += [
      ("Data", key.description), ("Owner", key.owner), ("Protection", "\(key.security)"),
      ("Type", "\(key.valueType), \(key.serializer)"), ("Machines", "\(key.availability)"),
      ("Sync", key.syncPolicy.rawValue),
    ].map { ($0, AuditText.html($1)) }
    guard isLive else { return cells }
    let modified = entry.modified.map { AuditText.time($0) } ?? ""
    let origin = entry.modifiedOf == .store ? "<br><small>its store</small>" : ""
    return cells + [
      ("State", state(of: entry)), ("Stored as", AuditText.html(entry.protection ?? "")),
      ("Size", entry.size.map { AuditText.count($0, "byte") } ?? ""),
      ("Changed", modified + origin), ("Place", Self.code(entry.place ?? "")),
    ]
  }

  private func state(of entry: StorageAuditEntry) -> String {
    guard let state = entry.state else { return "" }
    switch state {
    case .elsewhere, .unreadable, .unknown: return Self.marked(state.words, "bad")
    default: return state.words
    }
  }

  private static func table(_ heads: [String], _ rows: [String]) -> String {
    let head = heads.map { "<th scope=\"col\">\($0)</th>" }.joined()
    return "<table>\n<thead><tr>\(head)</tr></thead>\n<tbody>\n"
      + rows.joined(separator: "\n") + "\n</tbody>\n</table>"
  }

  private static func row(_ cells: [(String, String)]) -> String {
    "<tr>" + cells.map { "<td data-label=\"\($0)\">\($1)</td>" }.joined() + "</tr>"
  }

  private static func code(_ text: String) -> String {
    text.isEmpty ? "" : "<code>\(AuditText.html(text))</code>"
  }

  private static func marked(_ text: String, _ mark: String) -> String {
    "<span class=\"\(mark)\">\(AuditText.html(text))</span>"
  }

  private var legend: String {
    var items = [
      (
        "Plaintext",
        "The key declares plaintext: anyone who can read the file can read the value."
      ),
      ("Protection", "What the key declares. The place may also seal the value."),
    ]
    if isLive {
      items += [
        (
          "State",
          "\"No value\" is not a finding. \"Not opened\" means a value under a passcode, or under material "
            + "that the audit did not have."
        ),
        ("Stored as", "How the stored value is protected."),
        ("Size", "The stored bytes, including those that sealing adds."),
      ]
      items += Set(findings.map(\.kind)).sorted { $0.rawValue < $1.rawValue }.map {
        ($0.rawValue, $0.explanation)
      }
    }
    let rows = items.map { "<dt>\(AuditText.html($0))</dt><dd>\(AuditText.html($1))</dd>" }
    return "<dl>\n" + rows.joined(separator: "\n") + "\n</dl>"
  }
}

extension StorageAuditFinding.Kind {
  /// The meaning of the finding, and what to do about it.
  var explanation: String {
    switch self {
    case .duplicate: "Two keys are one piece of data. Give one of them another name."
    case .undescribed: "Describe what the data is."
    case .impossible: "The domain can't keep the declared protection: the router refuses the key."
    case .stray: "No key declares this data. Declare it, migrate it or remove it."
    case .damaged: "It does not open, or is not what the key's serializer writes. Restore it."
    case .plaintext:
      "Anyone who can read the file can read it, but it is declared as sealed. Write it again."
    case .otherPolicy:
      "Its protection differs from the declaration. The next write, or a migration, changes it."
    case .otherPlace: "It is where an older declaration or configuration put it. Migrate the key."
    case .otherSerializer: "Another serializer wrote it. Migrate the key."
    case .wrongKey:
      "It is sealed under another key than the present one. Restore the old key."
    case .oldKey: "It is sealed under a key from before the last rotation. Finish the rotation."
    case .unreadable: "It could not be read, so the audit says nothing about its contents."
    case .rights: "More users can read or change the file than should. Restrict its permissions."
    }
  }
}
