internal import CGRPC
public import StorageCore

extension EtcdCertificates {
  /// When the certificates in the files end, in seconds since 1970, by the files' paths.
  ///
  /// Of a file with several certificates the first counts, which of a client's is its own. The
  /// authorities of the system are left out.
  ///
  /// - Throws: `StorageError` when a file can't be read.
  public func ends() throws(StorageError) -> [String: Int64] {
    var ends: [String: Int64] = [:]
    for path in paths.prefix(2) where !path.isEmpty {
      ends[path] = Self.end(of: try Self.text(path))
    }
    return ends
  }

  /// When the first certificate of a PEM text ends, in seconds since 1970; nil if there is none.
  static func end(of text: String) -> Int64? {
    let end = unsafe text.withCString { unsafe sps_certificate_end($0) }
    return end < 0 ? nil : end
  }
}
