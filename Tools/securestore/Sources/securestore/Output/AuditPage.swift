internal import LocalData

/// The report of an audit as one page: no script, no network, no other file.
///
/// The page reads at the width of a phone and prints on paper.
struct AuditPage {
  let report: StorageAuditReport

  /// The page.
  var html: String {
    """
    <!DOCTYPE html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
    <title>\(Self.text(report.title))</title>
    <style>
    \(Self.style)
    </style>
    </head>
    <body>
    <h1>\(Self.text(report.title))</h1>
    <p>\(Self.text(report.summary))</p>
    <h2>Findings</h2>
    \(report.findings.isEmpty ? "<p>None.</p>" : report.findings.map(Self.article).joined(separator: "\n"))
    <h2>Keys</h2>
    \(report.keys.map(Self.article).joined(separator: "\n"))
    </body>
    </html>

    """
  }

  private static let style = """
    :root { color-scheme: light dark; --line: #8886; --bad: #c62828; --dim: #666 }
    @media (prefers-color-scheme: dark) { :root { --bad: #ff8a80; --dim: #aaa } }
    body { font: 15px/1.45 system-ui, sans-serif; margin: 1rem auto; max-width: 60rem; padding: 0 1rem;
      overflow-wrap: anywhere }
    article { border: 1px solid var(--line); border-radius: .5rem; margin: 0 0 1rem; padding: .5rem .8rem }
    h3 { font: 600 1rem ui-monospace, monospace; margin: 0 }
    mark { background: none; color: var(--bad) }
    dl { display: grid; grid-template-columns: 7rem 1fr; margin: .3rem 0 0 }
    dt { color: var(--dim) } dd { margin: 0 }
    @media print { body { font-size: 9pt; max-width: none } article { break-inside: avoid } }
    """

  private static func article(_ finding: StorageAuditFinding) -> String {
    "<article><h3>\(mark(finding.kind.rawValue)) \(text(finding.subject))</h3>\(text(finding.message))</article>"
  }

  private static func article(_ entry: StorageAuditEntry) -> String {
    let facts = entry.fields.map { "<dt>\(text($0.label))</dt><dd>\(text($0.text))</dd>" }
    return "<article><h3>\(text("\(entry.key.domain)/\(entry.key.name)"))"
      + "\(entry.isPlaintext ? " " + mark("PLAINTEXT") : "")</h3><dl>\(facts.joined())</dl></article>"
  }

  private static func mark(_ word: String) -> String { "<mark>\(text(word))</mark>" }

  /// The text escaped for HTML, also for attributes, and on one line.
  static func text(_ text: String) -> String {
    let escapes: [Character: String] = [
      "&": "&amp;", "<": "&lt;", ">": "&gt;", "\"": "&quot;", "'": "&#39;",
    ]
    return Printable.line(text).map { escapes[$0] ?? String($0) }.joined()
  }
}
