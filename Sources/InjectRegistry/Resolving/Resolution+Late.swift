extension Resolution {
  /// A chance to register a missing dependency.
  struct Late {
    /// Holds others that miss the same dependency while the closure runs.
    let slot: Slot<Bool>
    let closure: InjectErrorClosure
    let error: InjectError
  }

  /// The chance to register a missing dependency, or nil when there is none or it was used.
  func late(_ progress: Progress) -> Late? {
    guard !progress.closureWasCalled, let closure = errorClosure else { return nil }
    let registry = layer?.registry ?? storage.registry
    let gate = registry.lateGate(for: node.key.entry, Dependency.self)
    // Inside the closure for the same dependency there is no second chance.
    guard chain.isEmpty || !chain.steps.contains(where: { $0.registration === gate.registration })
    else { return nil }
    return Late(slot: gate, closure: closure, error: notFound)
  }

  /// The error when nothing was found, which is also reported to a strict test.
  func missing() -> InjectError {
    let error = notFound
    var current = layer
    while let layer = current {
      if let handler = layer.strictHandler {
        handler(error)
        return error.reported
      }
      current = layer.below
    }
    return error
  }
}
