extension StorageAuditReport {
  /// The report as one self-contained HTML page: no script, no network, no other file.
  ///
  /// A summary comes first, then the findings, then the keys. The page reads at the width of a
  /// phone and prints on paper.
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
    \(figures)
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
    :root { color-scheme: light dark; --line: #8886; --bad: #c62828; --ok: #2e7d32; --dim: #666 }
    @media (prefers-color-scheme: dark) { :root { --bad: #ff8a80; --ok: #81c784; --dim: #aaa } }
    body { font: 15px/1.45 system-ui, sans-serif; margin: 1rem auto; max-width: 80rem; padding: 0 1rem }
    h1 { font-size: 1.5rem } h2 { font-size: 1.15rem; margin-top: 2rem }
    .sum { display: grid; grid-template-columns: repeat(auto-fit, minmax(8.5rem, 1fr)); gap: .6rem;
      margin: 0 }
    .sum div { border: 1px solid var(--line); border-radius: .5rem; padding: .5rem .8rem;
      display: flex; flex-direction: column-reverse; justify-content: flex-end }
    .sum dt { color: var(--dim); font-weight: 400; font-size: .85rem }
    .sum dd { margin: 0; font-size: 1.4rem; font-weight: 600 }
    table { border-collapse: collapse; width: 100%; table-layout: fixed }
    th, td { border-bottom: 1px solid var(--line); padding: .45rem .6rem; text-align: left;
      vertical-align: top; overflow-wrap: break-word }
    th { font-size: .85rem; color: var(--dim) }
    td p { margin: 0 0 .15rem }
    td b { font-weight: 400; color: var(--dim) }
    code { font: .92em ui-monospace, monospace }
    .name { font-weight: 600 }
    .bad { color: var(--bad); font-weight: 600 } .ok { color: var(--ok) }
    dt { font-weight: 600 } dd { margin: 0 0 .5rem }
    @media screen and (max-width: 52rem) {
      thead { display: none }
      table, tbody, tr, td { display: block }
      tr { border: 1px solid var(--line); border-radius: .5rem; margin: 0 0 1rem; padding: .3rem 0 }
      td { border: 0; padding: .2rem .8rem }
      td[data-label]::before { content: attr(data-label); display: block; font-size: .8rem;
        color: var(--dim) }
      td.first::before { display: none }
    }
    @media print {
      :root { color-scheme: light; --bad: #b00; --dim: #444 }
      @page { size: landscape; margin: 12mm }
      body { font-size: 9pt; margin: 0; max-width: none }
      thead { display: table-header-group }
      tr, .sum div { break-inside: avoid }
    }
    """

  // MARK: - Summary

  private var figures: String {
    let plain = keys.count { $0.isPlaintext }
    var figures: [(String, String, mark: String)] = [
      ("Keys", "\(keys.count)", ""),
      ("Declared as plaintext", "\(plain)", plain > 0 ? "bad" : ""),
      ("Declared as sealed", "\(keys.count - plain)", ""),
    ]
    if isLive {
      figures.append(("Without a value", "\(keys.count { $0.state == .absent })", ""))
    }
    figures.append(("Findings", "\(findings.count)", findings.isEmpty ? "ok" : "bad"))
    if let oldest = keys.compactMap(\.modified).min() {
      figures.append(("Oldest change", AuditText.day(oldest), ""))
    }
    let cells = figures.map { name, figure, mark in
      "<div><dt>\(name)</dt><dd class=\"\(mark)\">\(figure)</dd></div>"
    }
    return "<dl class=\"sum\">\n" + cells.joined(separator: "\n") + "\n</dl>"
  }

  // MARK: - Findings and keys

  private var findingsTable: String {
    guard !findings.isEmpty else { return "<h2>Findings</h2>\n<p class=\"ok\">None.</p>" }
    let rows = findings.map { finding in
      let key = [finding.domain, finding.name].compactMap(\.self).joined(separator: "/")
      return Self.row([
        ("Finding", Self.marked(finding.kind.rawValue, "bad")),
        ("Key or entry", Self.code(key) + Self.line("", Self.code(finding.place))),
        ("What was found", AuditText.html(finding.message)),
      ])
    }
    let heads = [("Finding", 16), ("Key or entry, and its place", 42), ("What was found", 42)]
    return "<h2>Findings</h2>\n" + Self.table(heads, rows)
  }

  private var keysTable: String {
    var heads = [("Key", 30), ("Protection", 32), ("Use", 38)]
    if isLive { heads = [("Key", 24), ("Protection", 26), ("Value", 26), ("Use", 24)] }
    return Self.table(heads, keys.map { Self.row(cells(of: $0)) })
  }

  private func cells(of entry: StorageAuditEntry) -> [(String, String)] {
    let key = entry.key
    let name = "<p class=\"name\">\(Self.code(key.name))</p>"
    var protection =
      entry.isPlaintext
      ? "<p>\(Self.marked("PLAINTEXT", "bad"))</p>"
      : Self.line("declared", AuditText.html("\(key.security)"))
    if let stored = entry.protection { protection += Self.line("stored", AuditText.html(stored)) }
    var cells = [
      (
        "Key",
        name + Self.line("in", Self.code("\(key.domain)"))
          + "<p>\(AuditText.html(key.description))</p>"
      ),
      ("Protection", protection),
    ]
    if isLive { cells.append(("Value", value(of: entry))) }
    let use = [
      ("owner", key.owner), ("type", "\(key.valueType), \(key.serializer)"),
      ("machines", "\(key.availability)"), ("sync", key.syncPolicy.rawValue),
    ]
    return cells + [("Use", use.map(Self.fact).joined())]
  }

  private func value(of entry: StorageAuditEntry) -> String {
    var lines = "<p>\(state(of: entry))</p>"
    if let size = entry.size { lines += Self.line("size", AuditText.count(size, "byte")) }
    if let modified = entry.modified {
      let origin = entry.modifiedOf == .store ? " (its store)" : ""
      lines += Self.line("changed", AuditText.time(modified) + origin)
    }
    return lines + Self.line("in", Self.code(entry.place ?? ""))
  }

  private func state(of entry: StorageAuditEntry) -> String {
    guard let state = entry.state else { return "" }
    switch state {
    case .elsewhere, .unreadable, .unknown: return Self.marked(state.words, "bad")
    default: return state.words
    }
  }

  // MARK: - Cells

  /// A line of a cell with a declared name, which may break as a path does.
  private static func fact(_ label: String, _ text: String) -> String {
    line(label, AuditText.breakable(AuditText.html(text)))
  }

  /// A line of a cell; empty for no text.
  private static func line(_ label: String, _ html: String) -> String {
    guard !html.isEmpty else { return "" }
    return "<p>" + (label.isEmpty ? "" : "<b>\(label)</b> ") + html + "</p>"
  }

  /// A table; a head's number is its column's share of the width in percent.
  private static func table(_ heads: [(String, Int)], _ rows: [String]) -> String {
    let head = heads.map { "<th scope=\"col\" style=\"width:\($1)%\">\($0)</th>" }.joined()
    return "<table>\n<thead><tr>\(head)</tr></thead>\n<tbody>\n"
      + rows.joined(separator: "\n") + "\n</tbody>\n</table>"
  }

  private static func row(_ cells: [(String, String)]) -> String {
    let html = cells.enumerated().map { number, cell in
      "<td\(number == 0 ? " class=\"first\"" : "") data-label=\"\(cell.0)\">\(cell.1)</td>"
    }
    return "<tr>" + html.joined() + "</tr>"
  }

  /// A name or path, which may break after the marks that divide it.
  private static func code(_ text: String) -> String {
    text.isEmpty ? "" : "<code>\(AuditText.breakable(AuditText.html(text)))</code>"
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
        ("Stored", "How the stored value is protected; \"plaintext\" means not at all."),
        ("Size", "The stored bytes, including those that sealing adds."),
        (
          "Oldest change",
          "The day on which the value was stored that has stayed unchanged longest. Rotating keys seals "
            + "every value anew, so no value under the present keys is older than their rotation."
        ),
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
