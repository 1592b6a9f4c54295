/// The three reasons why an existing store does not open; each asks the user for another action.
///
/// Each error names the file to look at: the key file if the source is a key file, else the store's
/// file. `StoreHeader.unwrapRoot` throws them and adds the path of the store.
extension StorageError {
  /// A source gave a key or a passphrase of another store, or an old one of this store.
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
        "\(subject) does not contain a key, but \(name) opens only with a key"
      remedy =
        "Put the key back, which is 32 bytes in Base64 with at most one line feed and no carriage return"
    case .passphrase where source.kind == .passphrase:
      what = "the passphrase is not the right one for \(name)"
      remedy = "Try again with the right passphrase"
    case .key where source.kind == .recovery:
      what = "\(name) has no slot for this recovery key"
      remedy =
        "The recovery key may belong to another store, or its slot was removed. Open the store with "
        + "another key"
    case .passphrase:
      what = "\(subject) gave a passphrase that does not open \(name)"
      remedy = "Put the right passphrase back"
    case .key:
      what = "\(subject) gave a key that does not open \(name)"
      remedy = "Put the right key back"
    }
    let advice = source.kind == .recovery ? "" : header.recoveryAdvice
    return StorageError(
      .wrongKey, "\(what). The data is unchanged. \(remedy)\(advice)\(startAnew)", path: path)
  }

  /// The application lists the key file that the store opens with, but the file does not exist.
  static func keyFileGone(
    _ source: KeySource.Candidate, opens header: StoreHeader, store: String?
  ) -> StorageError {
    StorageError(
      .keyUnavailable,
      "the key file that opens \(name(of: store, isSaid: false)) is gone. The data is unchanged. "
        + "If the key file comes from a mount, mount it again at this path; otherwise put the key file back "
        + "from a backup\(header.recoveryAdvice)\(startAnew)", path: source.path())
  }

  /// The application lists no source that opens the store, or none of these sources has a key.
  static func noSource(of source: KeySource, opens header: StoreHeader) -> StorageError {
    let known = header.slots.map(\.title)
    let given = source.candidates.map { candidate in
      header.slots(of: candidate).isEmpty
        ? "\(candidate.title) (it has no key slot in this store)" : candidate.titleAndAbsence
    }
    let listed =
      given.isEmpty
      ? "The program lists no key source"
      : "No source that the program lists gave such a key: \(given.joined(separator: ", "))"
    return StorageError(
      .keyUnavailable,
      "the store opens only with \(known.joined(separator: " or ")). \(listed). The data is unchanged. "
        + "Provide the missing key, or list a source that opens the store"
        + moveToCredential(of: source, header) + startAnew)
  }

  /// The way out when a key is lost for good; the last part of a message.
  package static let startAnew =
    ". If the key is lost for good, start anew with discard(), which removes all values"

  /// The same error without the advice to start anew, for a store that machines share: one that lacks
  /// the key must not remove it for all.
  var withoutStartingAnew: StorageError {
    guard message.hasSuffix(Self.startAnew) else { return self }
    return StorageError(
      code, String(message.dropLast(Self.startAnew.count)), key: key, path: path, number: number)
  }

  /// Advice for a store that opens with a key file, while the application now lists a credential.
  private static func moveToCredential(of source: KeySource, _ header: StoreHeader) -> String {
    let credential = source.candidates.first {
      $0.kind == .systemdCredential && header.slots(of: $0).isEmpty
    }
    guard let credential, header.slots.contains(where: { $0.kind == .file }) else { return "" }
    return
      ". To move the store from its key file to the \(credential.title), add a slot for the credential "
      + "while the key file still exists: run securestore slots add --new-credential \(credential.identifier) "
      + "where the credential is loaded, or call keyAdministration.add(_:)"
  }

  /// What to call the store: its path, or "this store" if the error names that path anyway.
  private static func name(of store: String?, isSaid: Bool) -> String {
    guard let store, !isSaid else { return "this store" }
    return "the store \(store)"
  }
}

extension StoreHeader {
  /// Whether all slots of `source` open with a key, not with a passphrase.
  fileprivate func takesKey(of source: KeySource.Candidate) -> Bool {
    slots(of: source).allSatisfy { $0.derivation == .keyed }
  }

  /// Advice to use the recovery key, if the store has one.
  fileprivate var recoveryAdvice: String {
    slots.contains { $0.kind == .recovery } ? ", or open the store with its recovery key" : ""
  }
}

extension KeySource.Candidate {
  /// Whether the source holds text, whose form decides if the text is a key or a passphrase.
  fileprivate var holdsText: Bool {
    [.file, .environment, .systemdCredential].contains(kind)
  }
}
