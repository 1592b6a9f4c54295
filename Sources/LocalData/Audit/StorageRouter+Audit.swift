internal import CryptoCore
public import StorageCore

extension StorageRouter {
  /// The declarations of all registered catalogs, and the configuration; opens nothing.
  ///
  /// `securestore audit` reads its ``StorageAuditReport/json``.
  ///
  /// - Throws: `StorageError` if the application has no valid id.
  public nonisolated func catalogReport() throws(StorageError) -> StorageAuditReport {
    let entries = auditEntries()
    return StorageAuditReport(
      applicationID: try core.places.locations.application(), isLive: false, keys: entries,
      findings: StorageAuditFinding.ofDeclarations(entries.map(\.key)),
      configuration: AuditConfiguration(core.state.withLock { $0 }))
  }

  /// Compares the registered catalogs with the stored data.
  ///
  /// Reads and opens every value, and changes none; the audit of a `StorageCatalogFile` does not even open
  /// a store for writing. The cost is that of reading everything. The audit does not ask for passcodes: such a value is
  /// ``StorageAuditEntry/State/unopened``. It asks all registered providers at once, each within
  /// its deadline. A value that can't be read is a finding, and the audit continues.
  ///
  /// - Returns: the live report. The same state gives the same bytes.
  /// - Throws: `StorageError`: `invalid` if no catalog was registered; or if the application has no
  ///   valid id.
  public nonisolated func audit() async throws(StorageError) -> StorageAuditReport {
    let entries = auditEntries()
    guard !entries.isEmpty else {
      throw StorageError(
        .invalid, "no catalog was registered, so there is nothing to compare; register one")
    }
    let core = self.core
    let state = core.state.withLock { $0 }
    let application = try core.places.locations.application()
    let configuration = AuditConfiguration(state)
    var audit = try await Blocking.run { () throws(StorageError) in
      var audit = Audit(core.places, configuration)
      audit.run(entries)
      return audit
    }
    await audit.askProviders(state)
    return StorageAuditReport(
      applicationID: application, isLive: true, keys: audit.entries, findings: audit.findings,
      configuration: configuration)
  }

  private nonisolated func auditEntries() -> [StorageAuditEntry] {
    core.state.withLock { $0.catalogs }.sorted { $0.key < $1.key }.flatMap { catalog, keys in
      keys.map { StorageAuditEntry(catalog: catalog, key: $0.descriptor) }
    }
  }
}

extension Audit {
  /// The result for a value that waited for a provider.
  private struct Answer: Sendable {
    let value: PendingValue
    let state: StorageAuditEntry.State
    let finding: StorageAuditFinding?
  }

  /// Opens the values that only a provider's material opens.
  mutating func askProviders(_ state: RouterState) async {
    let waiting = pending
    let answers = await withTaskGroup(of: Answer.self) { group in
      for value in waiting {
        let source = KeyMaterialSource(id: value.envelope.sealing?.source ?? "")
        guard let provider = state.providers[source] else { continue }
        let call = ProviderCall(
          provider: provider, name: value.key.name, address: value.address, source: source,
          deadline: state.encryption.keyMaterialDeadline)
        group.addTask { await Self.answer(value, call) }
      }
      var answers: [Answer] = []
      for await answer in group { answers.append(answer) }
      return answers
    }
    for answer in answers {
      entries[answer.value.index].state = answer.state
      if let finding = answer.finding { findings.append(finding) }
    }
  }

  private static func answer(_ value: PendingValue, _ call: ProviderCall) async -> Answer {
    do throws(StorageError) {
      let present = try await call.material()
      let isPresent = try await Blocking.run { () throws(StorageError) in
        try value.sealer.isUnder([present], value.envelope)
      }
      let materials = isPresent ? [present] : try await call.formerMaterial()
      try await Blocking.run { () throws(StorageError) in
        try Self.open(value.envelope, value.sealer, materials)
      }
      let finding = StorageAuditFinding(
        .oldKey, domain: value.key.domain, name: value.key.name, place: value.place,
        "it is sealed under older material of \(call.source.id)")
      return Answer(value: value, state: .present, finding: isPresent ? nil : finding)
    } catch {
      return Answer(
        value: value,
        state: [.keyUnavailable, .timedOut].contains(error.code) ? .unopened : .unreadable,
        finding: finding(of: error, value.key, value.place))
    }
  }
}
