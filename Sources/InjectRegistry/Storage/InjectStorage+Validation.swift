extension InjectStorage {
  /// Resolves all that is registered in ``standard``, and all injections seen so far.
  ///
  /// - Throws: ``InjectFaults``, with all that failed.
  public static func validate() throws { try standard.validate() }

  /// The same, where builders may be async.
  public static func validateAsync() async throws { try await standard.validateAsync() }

  /// Resolves all that is registered here, and all injections seen so far.
  ///
  /// It builds what was not built, and keeps what its scope keeps. An injection is seen once its
  /// property was made. Builders with parameters are left out: nobody knows which to give them.
  ///
  /// - Throws: ``InjectFaults``, with all that failed.
  public func validate() throws {
    var faults = Faults()
    for registration in visibleRegistrations {
      do throws(InjectError) {
        try registration.check(in: self)
      } catch {
        faults.ofRegistrations.append(error)
      }
    }
    for (node, location) in injections {
      do throws(InjectError) {
        try node.check(location)
      } catch {
        faults.addOfInjection(error)
      }
    }
    try faults.report()
  }

  /// The same, where builders may be async.
  ///
  /// - Throws: ``InjectFaults``, with all that failed.
  public func validateAsync() async throws {
    var faults = Faults()
    for registration in visibleRegistrations {
      do throws(InjectError) {
        try await registration.checkAsync(in: self)
      } catch {
        faults.ofRegistrations.append(error)
      }
    }
    for (node, location) in injections {
      do throws(InjectError) {
        try await node.checkAsync(location)
      } catch {
        faults.addOfInjection(error)
      }
    }
    try faults.report()
  }

  /// What the caller sees: the registrations of the innermost overrides first.
  private var visibleRegistrations: [AnyRegistration] {
    var registrations: [AnyRegistration] = []
    var layer = Layer.innermost(of: self)
    while let current = layer {
      registrations += current.registry.all
      layer = current.below
    }
    return registrations + registry.all
  }
}

/// Faults as they are found.
private struct Faults {
  var ofRegistrations: [InjectError] = []
  private var ofInjections: [InjectError] = []

  /// Adds what an injection failed with.
  ///
  /// Where that is a builder that is known to fail, the injection only says where it is needed.
  mutating func addOfInjection(_ error: InjectError) {
    let known = ofRegistrations.firstIndex {
      $0.code == error.code && !$0.candidates.isEmpty && $0.candidates == error.candidates
    }
    if let known {
      ofRegistrations[known] = ofRegistrations[known].at(error.location)
    } else {
      ofInjections.append(error)
    }
  }

  /// Throws the faults in an order that does not change, each once; if there are any.
  func report() throws {
    var seen: Set<String> = []
    let errors = (ofRegistrations + ofInjections).filter { seen.insert($0.description).inserted }
    guard !errors.isEmpty else { return }
    throw InjectFaults(errors: errors.sorted { $0.description < $1.description })
  }
}
