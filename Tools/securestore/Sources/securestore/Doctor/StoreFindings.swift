internal import DefaultsBackend
internal import FileBackend
internal import Foundation
internal import StorageCore
internal import VaultBackend

// What doctor says of vaults, sealed folders, and the other stores of an application.

extension FolderPlace {
  func findings(_ key: KeyOptions, mayUseKeyring: Bool) -> [Finding] {
    var index = index
    index.mayPrompt = false
    return index.vaultFindings(key) + index.filesFindings(of: path, key)
  }
}

extension VaultPlace {
  func findings(_ key: KeyOptions, mayUseKeyring: Bool) -> [Finding] {
    var place = self
    place.mayPrompt = false
    return place.silentFindings(key, mayUseKeyring)
  }

  private func silentFindings(_ key: KeyOptions, _ mayUseKeyring: Bool) -> [Finding] {
    var findings = vaultFindings(key)
    // If this throws, the finding about the vault gives the reason.
    do {
      if try Path.name(of: path) == VaultPlace.indexName && Path.isThere(path) {
        findings += filesFindings(of: (path as NSString).deletingLastPathComponent, key)
      }
    } catch {}
    guard let application else { return findings }
    findings += filesFindings(application, key) + [suiteFinding(application)]
    return findings + (mayUseKeyring ? [keychainFinding(application)] : [])
  }

  fileprivate func vaultFindings(_ key: KeyOptions) -> [Finding] {
    do {
      guard try isThere() else {
        return [Finding("vault", .absent, "\(path) does not exist; init creates it")]
      }
    } catch {
      return [Finding("vault", path) { throw error }]
    }
    let slots = Finding("vault slots", path) {
      "opens with " + (try self.slots()).map(\.title).joined(separator: ", ")
    }
    return [slots] + weakSlots() + [
      Finding.opening("vault", path) { try storage(try keySource(key), .readOnly).listing() }
    ]
  }

  /// The slots whose passphrase can be guessed faster than that of a new slot.
  private func weakSlots() -> [Finding] {
    let slots: [KeySlot]
    // If this throws, the finding about the slots gives the reason.
    do { slots = try self.slots() } catch { return [] }
    return slots.compactMap { slot in
      slot.weakness.map {
        Finding(
          "vault slot \(slot.id)", .bad,
          "\(slot.title): \($0); replace it with slots change, or with passphrase")
      }
    }
  }

  /// How many findings of a sealed folder are shown.
  private static let filesLimit = 20

  /// The application's sealed folder.
  private func filesFindings(_ application: String, _ key: KeyOptions) -> [Finding] {
    do {
      let path = try SealedFolder.standardPath(applicationID: application)
      guard try Path.isThere(path) else {
        return [Finding("files", .absent, "\(path) does not exist")]
      }
      return filesFindings(of: path, key)
    } catch {
      return [Finding("files", application) { throw error }]
    }
  }

  /// What can be said about a sealed folder without reading its values.
  fileprivate func filesFindings(of path: String, _ key: KeyOptions) -> [Finding] {
    do {
      let folder = SealedFolder(
        at: URL(fileURLWithPath: path, isDirectory: true),
        keySource: try keySource(key, of: path + "/" + VaultPlace.indexName), access: .readOnly,
        folderTrust: folderTrust, deadline: deadline)
      let listing = try folder.listing()
      let found = try folder.inspect()
      var findings = found.prefix(Self.filesLimit).map { finding in
        Finding(
          "files", .bad,
          "\(path): \(finding.kind.rawValue): \(finding.name ?? finding.path ?? ""): \(finding.message)"
        )
      }
      if found.count > Self.filesLimit {
        findings.append(
          Finding("files", .bad, "\(path): \(found.count - Self.filesLimit) more; see files verify")
        )
      }
      if listing.unreadable > 0 {
        findings.append(
          Finding(
            "files", .bad,
            "\(path): \(Printable.count(listing.unreadable, "record")) of the index can't be read; see "
              + "files verify", code: .damaged))
      }
      let count = Printable.count(listing.keys.count, "value")
      let opens = findings.isEmpty ? "opens; \(count), all files exist" : "opens; \(count)"
      return [
        Finding("files", .good, "\(path): \(opens); files verify reads every byte of them")
      ] + findings
    } catch {
      return [Finding("files", path) { throw error }]
    }
  }

  /// The application's sealed UserDefaults.
  private func suiteFinding(_ application: String) -> Finding {
    let name = "\(application).secure.plist"
    let folder =
      Environment.value("XDG_CONFIG_HOME") ?? (Environment.value("HOME") ?? "") + "/.config"
    let path = "\(folder)/\(name)"
    do {
      guard try Path.isThere(path) else {
        return Finding("defaults", .absent, "\(path) does not exist")
      }
    } catch {
      return Finding("defaults", path) { throw error }
    }
    return .opening("defaults", path) {
      try UserDefaultsStorage(suiteName: application, keySource: .automatic).listing()
    }
  }

  /// The application's sealed values in the keyring.
  private func keychainFinding(_ application: String) -> Finding {
    do {
      let keychain = try KeychainPlace(application: application, self)
      let slots = try keychain.slots()
      guard !slots.isEmpty else {
        return Finding("keychain", .absent, "the keyring holds no sealed values of \(application)")
      }
      return .opening("keychain", application) {
        try keychain.storage(slots, choice: nil, otherwise: .automatic).listing()
      }
    } catch {
      return Finding("keychain", application) { throw error }
    }
  }
}
