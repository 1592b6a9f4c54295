extension KeySource {
  /// Reads or makes material with the first source that can give some, and returns both.
  func materialForNewSlot(
    of store: String?
  ) throws(StorageError) -> (Candidate, KeyMaterial) {
    for candidate in candidates {
      if let material = try candidate.read() { return (candidate, material) }
      guard let make = candidate.make else { continue }
      try candidate.dependents()?.requireNone(besides: store)
      if let material = try make() { return (candidate, material) }
    }
    guard !candidates.isEmpty else {
      throw StorageError(.keyUnavailable, "the new key slot has no key source; give one")
    }
    let asked = candidates.map(\.titleAndAbsence).joined(separator: ", ")
    throw StorageError(
      .keyUnavailable,
      "no key source gave a key, and a new store or a new key slot needs one: \(asked). Provide one of "
        + "these keys, then try again")
  }
}

extension KeySource.Candidate {
  /// The kind, and the identifier if there is one.
  var title: String { identifier.isEmpty ? "\(kind)" : "\(kind) \(identifier)" }

  /// The title, and why the source is absent where that is known.
  var titleAndAbsence: String { title + (absence().map { " (\($0))" } ?? "") }
}
