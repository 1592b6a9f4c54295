#if Keyring
  internal import KeyringBackend
  internal import StorageCore

  /// The state of the desktop's keyring, checked without a prompt.
  struct KeyringFindings {
    /// The keys that the vault opens with: if one of them is missing, that is a fault.
    let needed: Set<String>
    private let report: KeyringReport

    /// Looks for the keys that are needed, and for the application's.
    init(needed: [String], application: String?, deadline: Duration) {
      self.needed = Set(needed)
      let others = [application].compactMap(\.self).filter { !needed.contains($0) }
      report = KeyringReport(keys: needed + others, deadline: deadline)
    }

    /// Whether the default collection can be used.
    var isUsable: Bool { report.findings.contains { $0.subject == .collection && $0.error == nil } }

    func all() -> [Finding] { report.findings.map(finding) + encryption + backend }

    private func finding(_ found: KeyringReport.Finding) -> Finding {
      let subject = Self.name(of: found.subject)
      guard let error = found.error else {
        return Finding(subject, .good, Self.good(found))
      }
      let label = found.label.map { "\"\($0)\": " } ?? ""
      return Finding(
        subject, isNeeded(found.subject) || !Self.isOptional(error) ? .bad : .absent,
        label + Failure(error).line, code: error.code)
    }

    /// Whether the vault does not open without the subject.
    private func isNeeded(_ subject: KeyringReport.Subject) -> Bool {
      if case .key(let name) = subject { return needed.contains(name) }
      return report.findings.contains {
        if case .key(let name) = $0.subject {
          $0.error != nil && needed.contains(name)
        } else {
          false
        }
      }
    }

    /// Whether the error is normal on a machine that uses no keyring, or not at the moment.
    private static func isOptional(_ error: StorageError) -> Bool {
      [.noBus, .noService, .noCollection, .locked, .keyUnavailable, .unsupported].contains(
        error.code)
    }

    private static func name(of subject: KeyringReport.Subject) -> String {
      switch subject {
      case .bus: "session bus"
      case .service: "keyring's service"
      case .collection: "keyring's collection"
      case .key(let name): "keyring key \(name)"
      }
    }

    private static func good(_ found: KeyringReport.Finding) -> String {
      switch found.subject {
      case .bus: "it answers"
      case .service: "a Secret Service answers on the session bus"
      case .collection: "the default one, \"\(found.label ?? "")\", is unlocked"
      case .key: "it exists and is unlocked"
      }
    }

    /// An unencrypted bus is a fault only if a key crosses it.
    private var encryption: [Finding] {
      guard let isEncrypted = report.isEncrypted else { return [] }
      let subject = "keyring's encryption"
      guard !isEncrypted else {
        return [Finding(subject, .good, "secrets cross the session bus encrypted")]
      }
      return [
        Finding(
          subject, needed.isEmpty ? .ignored : .bad,
          "the service does not encrypt secrets on the session bus; vault keys are not requested from it, and "
            + "plain secrets, such as those of secret-tool, cross in the clear", code: .unsupported)
      ]
    }

    private var backend: [Finding] {
      guard let name = report.ignoredBackend else { return [] }
      return [
        Finding(
          "SECRET_BACKEND", .ignored,
          "it is \"\(name)\", which has no effect here: libsecret's own programs, such as secret-tool, "
            + "keep secrets there, but this program uses only the service on the session bus")
      ]
    }
  }
#endif
