/// Why a store that exists does not open: three cases that call for different acts.
///
/// Each is of the file to look at: the key file where the source is one, else the store's own, which
/// who throws it adds.
extension StorageError {
  /// A source gave a key or a passphrase, and it is another store's, or an older one.
  static func wrongKey(
    of source: KeySource.Candidate, gave material: KeyMaterial, opens header: StoreHeader,
    store: String?
  ) -> StorageError {
    let path = source.path()
    let subject = path == nil ? source.title : "the key file"
    let name = name(of: store, isSaid: path == nil)
    let what: String
    let remedy: String
    switch material {
    case .passphrase where source.holdsText && header.takesKey(of: source):
      what =
        "what \(subject) holds is no key, so it was taken as a passphrase, and \(name) opens with "
        + "a key"
      remedy =
        "Put the key back: 32 bytes in Base64 and at most one line feed; with a carriage return at "
        + "its end, as of a file with CRLF, it is none"
    case .passphrase where source.kind == .passphrase:
      what = "the passphrase is not the right one for \(name)"
      remedy = "Try again with the right one"
    case .key where source.kind == .recovery:
      what = "the recovery key is not one of \(name)"
      remedy = "It may be another store's, or its slot was removed"
    case .passphrase:
      what = "\(subject) gave a passphrase that does not open \(name)"
      remedy = "Put the right one back"
    case .key:
      what = "\(subject) gave a key that does not open \(name)"
      remedy = "Put the right key back"
    }
    let advice = source.kind == .recovery ? "" : header.recoveryAdvice
    return StorageError(
      .wrongKey, "\(what); its data is untouched. \(remedy)\(advice)", path: path)
  }

  /// The key file that a store opens with is listed, and not there.
  static func keyFileGone(
    _ source: KeySource.Candidate, opens header: StoreHeader, store: String?
  ) -> StorageError {
    StorageError(
      .keyUnavailable,
      "the key file is gone that opens \(name(of: store, isSaid: false)); its data is untouched. "
        + "Put the key file back from a backup\(header.recoveryAdvice)", path: source.path())
  }

  /// No source was given that the store opens with, or none of them has a key.
  static func noSource(of source: KeySource, opens header: StoreHeader) -> StorageError {
    let known = header.slots.map(\.title)
    let given = source.candidates.map { candidate in
      header.slots(of: candidate).isEmpty
        ? "\(candidate.title), with which it does not open"
        : "\(candidate.title): \(candidate.absence() ?? "not there")"
    }
    return StorageError(
      .keyUnavailable,
      "the store opens with \(known.joined(separator: " or ")), and its key was not found (asked: "
        + "\(given.joined(separator: "; "))); its data is untouched. Provide one of these keys"
        + moveToCredential(of: source, header))
  }

  /// What to do where a key file opens the store, and the source lists a credential since.
  private static func moveToCredential(of source: KeySource, _ header: StoreHeader) -> String {
    let credential = source.candidates.first {
      $0.kind == .systemdCredential && header.slots(of: $0).isEmpty
    }
    guard let credential, header.slots.contains(where: { $0.kind == .file }) else { return "" }
    return
      "; or, to move it from its key file to the \(credential.title), make it open with that too, while "
      + "the key file is there: securestore slots add --new-credential \(credential.identifier) where the "
      + "credential is loaded, or keyAdministration.add(_:)"
  }

  /// The store, by its path unless the error is of that path anyway.
  private static func name(of store: String?, isSaid: Bool) -> String {
    guard let store, !isSaid else { return "this store" }
    return "the store \(store)"
  }
}

extension StoreHeader {
  /// Whether a key is what opens the store where `source` gives it.
  fileprivate func takesKey(of source: KeySource.Candidate) -> Bool {
    slots(of: source).allSatisfy { $0.derivation == .keyed }
  }

  /// What else opens the store, if anything does.
  fileprivate var recoveryAdvice: String {
    slots.contains { $0.kind == .recovery } ? ", or open the store with its recovery key" : ""
  }
}

extension KeySource.Candidate {
  /// Whether its content decides by its form if it is a key or a passphrase.
  fileprivate var holdsText: Bool {
    [.file, .environment, .systemdCredential].contains(kind)
  }
}
