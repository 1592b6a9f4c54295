internal import EtcdBackend
internal import Foundation
internal import StorageCore

// What doctor says of etcd.
extension EtcdPlace {
  /// What the members say, and how long the certificates are good.
  func engineFindings() throws -> [Finding] {
    var findings: [Finding] = []
    let members = try etcd(.firstAvailable([])).members()
    for member in members { findings.append(Self.finding(member)) }
    for member in members {
      guard let validity = member.certificate else { continue }
      findings.append(Self.finding("certificate of \(member.endpoint)", validity))
    }
    do throws(StorageError) {
      for (path, validity) in try certificates?.validities().sorted(by: { $0.key < $1.key }) ?? [] {
        findings.append(Self.finding("certificate \(path)", validity))
      }
    } catch {
      findings.append(Finding("certificates", .bad, Failure(error).line, code: error.code))
    }
    return findings
  }

  private static func finding(_ member: EtcdMember) -> Finding {
    let subject = "etcd \(member.endpoint)"
    if let failure = member.failure {
      return Finding(subject, .bad, Failure(failure).line, code: failure.code)
    }
    let milliseconds = Double(member.latency.components.attoseconds / 1_000_000_000_000) / 1000
    let facts = [
      "version \(member.version)",
      member.isLeader ? "leads" : member.hasLeader ? "follows" : "has no leader",
      "\(member.databaseSize >> 20) MiB", "answered in \(milliseconds) ms",
    ]
    let isGood = member.hasLeader && member.complaints.isEmpty
    return Finding(
      subject, isGood ? .good : .bad, (facts + member.complaints).joined(separator: ", "))
  }

  private static func finding(_ subject: String, _ validity: EtcdValidity) -> Finding {
    func text(_ time: Int64) -> String {
      Date(timeIntervalSince1970: Double(time)).formatted(.iso8601)
    }
    let now = Date().timeIntervalSince1970
    let left = Double(validity.end) - now
    let time = text(validity.end)
    let advice = "renew it; programs read renewed files again without a restart"
    guard left > 0 else { return Finding(subject, .bad, "expired at \(time); \(advice)") }
    guard Double(validity.begin) <= now else {
      return Finding(subject, .bad, "begins at \(text(validity.begin)); see both clocks")
    }
    guard validity.isDue(at: Int64(now)) else {
      return Finding(subject, .good, "good until \(time)")
    }
    return Finding(subject, .bad, "expires at \(time), in \(Int(left / 3600)) hours; \(advice)")
  }
}
