extension KeySource {
  /// Reads or makes material with the first source that can give some, and returns both.
  func materialForNewSlot(
    of store: String?
  ) throws(StorageError) -> (Candidate, KeyMaterial) {
    for candidate in candidates {
      if let material = try (candidate.readForNewSlot ?? candidate.read)() {
        try candidate.requireKey(material)
        return (candidate, material)
      }
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
  /// Refuses to seal something new with a key file of the library that was changed.
  ///
  /// What is no key is a passphrase elsewhere. Here it would be a weak one that nobody chose.
  fileprivate func requireKey(_ material: KeyMaterial) throws(StorageError) {
    guard holdsKey, case .passphrase = material else { return }
    throw StorageError(
      .damaged,
      "the key file holds no key, which is 32 bytes in Base64, so nothing new was sealed with it. Put it "
        + "back from a backup. Only if you no longer need what was sealed with it, remove the file and "
        + "the file with .made behind its name", path: path())
  }

  /// The kind, and the identifier if there is one.
  var title: String { identifier.isEmpty ? "\(kind)" : "\(kind) \(identifier)" }

  /// The title, and why the source is absent where that is known.
  var titleAndAbsence: String { title + (absence().map { " (\($0))" } ?? "") }
}
