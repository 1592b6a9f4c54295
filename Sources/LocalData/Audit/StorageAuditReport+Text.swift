extension StorageAuditReport: CustomStringConvertible {
  /// The report as ``text``.
  public var description: String { text }

  /// The report for a terminal or an e-mail: a paragraph for each key, then the findings.
  ///
  /// Characters in names that end a line or control a terminal become `?`.
  public var text: String {
    var lines = [title, summary, ""]
    for entry in keys { lines += Self.lines(of: entry) + [""] }
    lines.append(findings.isEmpty ? "No findings." : "Findings")
    for finding in findings {
      lines.append("  \(finding.kind.rawValue): \(finding.subject)")
      lines.append("    \(finding.message)")
    }
    return lines.map { AuditText.line($0) + "\n" }.joined()
  }

  /// The report as JSON with a schema version, and a line break at its end.
  ///
  /// docs/localdata-catalog.md describes it.
  public var json: String { AuditDocument(self).text }

  /// What the report is about, as its first line says.
  package var title: String {
    let subject = applicationID.map { " of \($0)" } ?? ""
    return (isLive ? "Storage audit" : "Storage catalog") + subject
  }

  /// How many keys and findings there are.
  package var summary: String {
    let plain = keys.count { $0.isPlaintext }
    var parts = [
      AuditText.count(keys.count, "key"), "\(plain) in plaintext by declaration",
      AuditText.count(findings.count, "finding"),
    ]
    if isLive { parts.insert("\(keys.count { $0.state == .absent }) without a value", at: 2) }
    return parts.joined(separator: ", ")
  }

  private static func lines(of entry: StorageAuditEntry) -> [String] {
    ["\(entry.key.domain)/\(entry.key.name)\(entry.isPlaintext ? "  [PLAINTEXT]" : "")"]
      + entry.fields.map { label, text in
        "  \(label)\(String(repeating: " ", count: max(1, 13 - label.count)))\(text)"
      }
  }
}

extension StorageAuditEntry {
  /// What a report shows beside the domain, the name and whether it is plaintext.
  package var fields: [(label: String, text: String)] {
    var fields: [(label: String, text: String)] = [
      ("Data", key.description), ("Owner", key.owner), ("Protection", "\(key.security)"),
      ("Type", "\(key.valueType), \(key.serializer)"), ("Machines", "\(key.availability)"),
      ("Sync", key.syncPolicy.rawValue), ("Catalog", catalog),
    ]
    if let state { fields.append(("State", state.words)) }
    if let protection { fields.append(("Stored as", protection)) }
    if let place { fields.append(("Place", place)) }
    if let size { fields.append(("Size", AuditText.count(size, "byte"))) }
    if let modified {
      let origin = modifiedOf == .store ? " (its store)" : ""
      fields.append(("Changed", AuditText.time(modified) + origin))
    }
    return fields
  }
}

extension StorageAuditEntry.State {
  /// The state in words, for people.
  var words: String {
    switch self {
    case .absent: "no value"
    case .present: "present"
    case .unopened: "present, not opened"
    case .elsewhere: "at another place"
    case .unreadable: "can't be read"
    case .unknown: "not known"
    case .otherMachine: "for other machines"
    }
  }
}

extension StorageAuditFinding {
  /// The key, entry or place of the finding.
  package var subject: String {
    let key =
      switch (domain, name) {
      case (let domain?, let name?): "\(domain)/\(name)"
      case (nil, let name?): name
      default: ""
      }
    guard !place.isEmpty else { return key }
    return key.isEmpty ? place : "\(key) in \(place)"
  }
}
