internal import Foundation
internal import Glibc
internal import StorageCore
internal import VaultBackend

/// Which of the key sources that an application may list are there.
enum SourceFindings {
  private static let credential = "securestorage-key"

  /// - Parameters:
  ///   - application: whose key file is looked for.
  ///   - hasVault: whether there is a vault, for which none is made any more.
  /// - Returns: what was found.
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
        subject, .absent, "CREDENTIALS_DIRECTORY is not set: this is no systemd service with any")
    }
    let path = "\(folder)/\(credential)"
    guard unsafe access(path, R_OK) == 0 else {
      guard errno == ENOENT else { return unreadable(path, subject) }
      return Finding(
        subject, .absent, "\(path) is not there; see LoadCredential= in systemd.exec(5)")
    }
    return Finding(subject, .good, "\(path); .automatic takes it first")
  }

  /// The key file that `.automatic` takes, beside the standard vault.
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
    return check(Path.absolute(path), "SECURESTORE_KEY_FILE", hasVault)
  }

  /// What can be said of a key file without opening it.
  private static func check(_ path: String, _ subject: String, _ hasVault: Bool) -> Finding {
    var status = stat()
    guard unsafe lstat(path, &status) == 0 else {
      guard errno == ENOENT else { return unreadable(path, subject) }
      guard unsafe lstat(path + ".made", &status) != 0 else {
        return Finding(
          subject, .bad, "\(path) was there once and is gone; put it back from a backup")
      }
      return Finding(
        subject, .absent, "\(path) is not there" + (hasVault ? "" : "; init makes it"))
    }
    guard status.st_mode & S_IFMT == S_IFREG else {
      return Finding(subject, .bad, "\(path) is not a regular file")
    }
    guard status.st_uid == geteuid() || status.st_uid == 0 else {
      return Finding(subject, .bad, "\(path) belongs to another user")
    }
    guard status.st_mode & 0o077 == 0 else {
      return Finding(subject, .bad, "others can read \(path); chmod 600 it")
    }
    guard unsafe access(path, R_OK) == 0 else { return unreadable(path, subject) }
    return Finding(subject, .good, "\(path), for its owner alone")
  }

  /// What errno says of a file that is there, or may be.
  private static func unreadable(_ path: String, _ subject: String) -> Finding {
    Finding(subject, .bad, "\(path) can't be read: \(Failure.text(of: errno))")
  }
}
