internal import Foundation
internal import Glibc
internal import StorageCore
internal import VaultBackend

/// The findings about the key sources that an application may list.
enum SourceFindings {
  private static let credential = "securestorage-key"

  /// - Parameters:
  ///   - application: the application whose key file is checked.
  ///   - hasVault: whether the vault exists; then no key file is created for it any more.
  /// - Returns: the findings.
  static func all(application: String?, hasVault: Bool) -> [Finding] {
    var findings = [credentials()]
    if let application { findings.append(keyFile(application, hasVault)) }
    findings.append(keyFileVariable(hasVault))
    return findings
  }

  private static func credentials() -> Finding {
    let subject = "credential \(credential)"
    guard let folder = Environment.value("CREDENTIALS_DIRECTORY") else {
      return Finding(
        subject, .absent, "CREDENTIALS_DIRECTORY is not set: no systemd service with credentials")
    }
    let path = "\(folder)/\(credential)"
    guard unsafe access(path, R_OK) == 0 else {
      guard errno == ENOENT else { return unreadable(path, subject) }
      return Finding(
        subject, .absent, "\(path) does not exist; see LoadCredential= in systemd.exec(5)")
    }
    return Finding(subject, .good, "\(path); .automatic uses it first")
  }

  /// The key file beside the standard vault, which `.automatic` uses.
  private static func keyFile(_ application: String, _ hasVault: Bool) -> Finding {
    let subject = "key file"
    let vault: String
    do {
      vault = try VaultStorage.standardPath(applicationID: application)
    } catch {
      return Finding(subject, .bad, error.description)
    }
    let path = (vault as NSString).deletingLastPathComponent + "/master.key"
    return check(path, subject, hasVault)
  }

  private static func keyFileVariable(_ hasVault: Bool) -> Finding {
    guard let path = Environment.value("SECURESTORE_KEY_FILE") else {
      return Finding("SECURESTORE_KEY_FILE", .absent, "not set")
    }
    do {
      return check(try Path.absolute(path), "SECURESTORE_KEY_FILE", hasVault)
    } catch {
      let reason = (error as? Failure)?.message ?? "the path can't be used"
      return Finding("SECURESTORE_KEY_FILE", .bad, reason)
    }
  }

  /// The state of a key file, as far as it shows without opening the file.
  private static func check(_ path: String, _ subject: String, _ hasVault: Bool) -> Finding {
    var status = stat()
    guard unsafe lstat(path, &status) == 0 else {
      guard errno == ENOENT else { return unreadable(path, subject) }
      guard unsafe lstat(path + ".made", &status) != 0 else {
        return Finding(
          subject, .bad, "\(path) existed once and is gone; restore it from a backup")
      }
      return Finding(
        subject, .absent, "\(path) does not exist" + (hasVault ? "" : "; init creates it"))
    }
    guard status.st_mode & S_IFMT == S_IFREG else {
      return Finding(subject, .bad, "\(path) is not a regular file")
    }
    guard status.st_uid == geteuid() || status.st_uid == 0 else {
      return Finding(subject, .bad, "\(path) belongs to another user")
    }
    guard status.st_mode & 0o077 == 0 else {
      return Finding(subject, .bad, "others can read \(path); run chmod 600 on it")
    }
    guard unsafe access(path, R_OK) == 0 else { return unreadable(path, subject) }
    return Finding(subject, .good, "\(path), which only its owner can read")
  }

  /// The finding for a file that can't be examined.
  private static func unreadable(_ path: String, _ subject: String) -> Finding {
    Finding(subject, .bad, "\(path) can't be read: \(Failure.text(of: errno))")
  }
}
