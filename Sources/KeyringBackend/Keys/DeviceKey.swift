internal import CryptoCore
internal import FoundationEssentials
internal import StorageCore

/// A key that is bound to this machine.
///
/// The key is made of a key file that is never in the keyring, and of the machine's id,
/// machine-id(5). A copy of the keyring alone lacks the file. A copy of the home folder has the
/// file; every program of the machine can read the id, and the id is part of file names in many
/// home folders, such as `pulse/<id>-runtime`. So a home folder that was moved to another machine
/// does not open there by itself, but the key does not stop an attacker who has a copy of the
/// folder.
enum DeviceKey {
  private static let fileName = "device.key"

  /// The key of an application on this machine.
  static func source(application: String) -> KeySource {
    let file: @Sendable () throws(StorageError) -> KeySource.Candidate = {
      () throws(StorageError) in
      let folder = try StandardFolders.data(application: application)
      return KeySource.file(URL(fileURLWithPath: folder + "/" + fileName)).candidates[0]
    }
    var candidate = KeySource.Candidate(.file, fileName) { () throws(StorageError) in
      guard let material = try file().read() else { return nil }
      return try bound(material)
    }
    candidate.make = { () throws(StorageError) in
      guard let material = try file().make?() else { return nil }
      return try bound(material)
    }
    candidate.keep = { do throws(StorageError) { try file().keep() } catch {} }
    candidate.dependents = { () throws(StorageError) in try file().dependents() }
    candidate.path = { do throws(StorageError) { return try file().path() } catch { return nil } }
    return KeySource([candidate])
  }

  /// The material, bound to this machine's id.
  private static func bound(_ material: KeyMaterial) throws(StorageError) -> KeyMaterial {
    guard case .key(let key) = material else {
      throw StorageError(.damaged, "the key file of this machine holds no key; put it back")
    }
    let machine = try machineID()
    return try cryptography { () throws(CryptoError) in
      let input = try key.withBytes { (span) throws(CryptoError) in try SecureBytes(copying: span) }
      let bytes = try KeyDerivation.hkdf(
        input, salt: machine, info: Array("SecurePropertyStorage device key".utf8), count: 32)
      return .key(SymmetricKey(bytes: bytes))
    }
  }

  /// The machine's id: 32 hexadecimal digits.
  private static func machineID() throws(StorageError) -> [UInt8] {
    guard let file = try OpenFile("/etc/machine-id", 0) else { throw machineUnknown }
    let text = try file.readAll(limit: 64)
    let digits = Array(text.prefix { $0 != UInt8(ascii: "\n") })
    guard digits.count == 32 else { throw machineUnknown }
    return digits
  }

  private static let machineUnknown = StorageError(
    .unsupported,
    "this machine has no id in /etc/machine-id, so nothing can be sealed to it alone; see "
      + "systemd-machine-id-setup(1)")
}
