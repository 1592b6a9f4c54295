public import CryptoCore
internal import Glibc
public import StorageCore
internal import Synchronization

public import struct FoundationEssentials.URL

/// The certificates of connections to etcd: PEM files, read when the first connection is made.
public struct EtcdCertificates: Sendable {
  let authority: URL?
  let client: (certificate: URL, key: URL)?

  /// Certificates of connections that are checked against an authority.
  ///
  /// - Parameter authority: the file of the authority's certificate that etcd's must be signed by;
  ///   with nil, the authorities of the system.
  public init(authority: URL? = nil) { (self.authority, client) = (authority, nil) }

  /// Certificates of connections on which this program shows one of its own.
  ///
  /// - Parameters:
  ///   - authority: the file of the authority's certificate that etcd's must be signed by; with nil,
  ///     the authorities of the system.
  ///   - certificate: the file of this program's certificate, with those between it and the authority.
  ///   - key: the file of its key, which only this user can read.
  public init(authority: URL? = nil, certificate: URL, key: URL) {
    (self.authority, client) = (authority, (certificate, key))
  }

  /// The paths of the files.
  var paths: [String] { [authority, client?.certificate, client?.key].map { $0?.path ?? "" } }

  /// The contents of the files.
  struct Texts: Sendable {
    let authority: String
    let certificate: String?
    let key: String?
  }

  /// Where Debian and most others keep the authorities of the system.
  private static let ofSystem = "/etc/ssl/certs/ca-certificates.crt"

  /// Reads the files.
  ///
  /// - Throws: `StorageError` when one can't be read.
  func read() throws(StorageError) -> Texts {
    let roots = try Self.text(authority?.path ?? Self.ofSystem)
    guard let client else { return Texts(authority: roots, certificate: nil, key: nil) }
    return Texts(
      authority: roots, certificate: try Self.text(client.certificate.path),
      key: try Self.text(client.key.path))
  }

  static func text(_ path: String) throws(StorageError) -> String {
    guard let text = SystemText.exact(try OpenFile.mounted(path).readAll(limit: 4 << 20)) else {
      throw StorageError(.invalid, "the file is not PEM, which is text", path: path)
    }
    return text
  }
}

extension OpenFile {
  /// Opens a file that was put there for this program; whoever did controls who can read it.
  fileprivate static func mounted(_ path: String) throws(StorageError) -> OpenFile {
    guard path.hasPrefix("/"), let file = try OpenFile(path, O_RDONLY | O_NONBLOCK | O_NOCTTY),
      try file.status().isRegular
    else {
      throw StorageError(
        .unavailable, "there is no such file; give the absolute path of a file", path: path)
    }
    return file
  }
}

/// A user of etcd.
public struct EtcdUser: Sendable {
  let name: String
  let password: @Sendable () throws(StorageError) -> SecureBytes
  /// Tells users apart whose passwords come from different places.
  let source: String

  private static let closures = Atomic<Int>(0)

  /// A user with a password.
  ///
  /// - Parameters:
  ///   - name: the user's name.
  ///   - password: gives the password; called whenever a token is needed.
  public init(_ name: String, password: @escaping @Sendable () throws(StorageError) -> SecureBytes)
  {
    let number = Self.closures.add(1, ordering: .relaxed).newValue
    self.init(name, source: "\(number)", password)
  }

  private init(
    _ name: String, source: String,
    _ password: @escaping @Sendable () throws(StorageError) -> SecureBytes
  ) {
    (self.name, self.password, self.source) = (name, password, source)
  }

  /// A user whose password is in a file that was put there for this program, such as a systemd
  /// credential.
  ///
  /// - Parameters:
  ///   - name: the user's name.
  ///   - file: the file; a line break at its end does not count.
  public init(_ name: String, passwordFile file: URL) {
    self.init(name, source: file.path) { () throws(StorageError) in
      let text = try OpenFile.mounted(file.path).readSecret(limit: 4096)
      return try cryptography { () throws(CryptoError) in
        try text.withBytes { (bytes) throws(CryptoError) in
          let hasBreak = unsafe bytes.withUnsafeBytes { unsafe $0.last == UInt8(ascii: "\n") }
          return try SecureBytes(copying: bytes.extracting(droppingLast: hasBreak ? 1 : 0))
        }
      }
    }
  }
}
