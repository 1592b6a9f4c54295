extension InjectStorage {
  /// Resolves all registrations of ``standard``, and all injections seen so far.
  ///
  /// - Throws: ``InjectFaults``, with all that failed.
  public static func validate() throws { try standard.validate() }

  /// The same, where builders may be async.
  public static func validateAsync() async throws { try await standard.validateAsync() }

  /// Resolves all registrations of this storage, and all injections seen so far.
  ///
  /// Missing instances are built, and kept if their scope keeps them. An injection counts as seen
  /// once its property was made. Builders with parameters are left out, since their parameters are
  /// unknown.
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

  /// The registrations that the caller sees, those of the innermost overrides first.
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

  /// Adds the failure of an injection.
  ///
  /// If the builder is already known to fail, the injection only adds the place where it is needed.
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

  /// Throws the faults, if any, each once and in a fixed order.
  func report() throws {
    var seen: Set<String> = []
    let errors = (ofRegistrations + ofInjections).filter { seen.insert($0.description).inserted }
    guard !errors.isEmpty else { return }
    throw InjectFaults(errors: errors.sorted { $0.description < $1.description })
  }
}
