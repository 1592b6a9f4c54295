internal import CGRPC
package import StorageCore

/// From when to when a certificate is good.
public struct EtcdValidity: Hashable, Sendable {
  /// Its beginning, in seconds since 1970.
  public let begin: Int64
  /// Its end, in seconds since 1970.
  public let end: Int64

  /// Makes a span, in seconds since 1970.
  package init(begin: Int64, end: Int64) { (self.begin, self.end) = (begin, end) }

  /// Whether it is time to renew the certificate: in the last third of its life, and of a long one in
  /// its last three days.
  ///
  /// - Parameter now: the time, in seconds since 1970.
  /// - Returns: false also before its beginning.
  package func isDue(at now: Int64) -> Bool { end - now < min((end - begin) / 3, 72 * 3600) }

  /// Of the first certificate of a PEM text; nil if there is none.
  init?(of text: String) {
    var (begin, end): (Int64, Int64) = (0, 0)
    guard unsafe text.withCString({ unsafe sps_certificate_validity($0, &begin, &end) }) == 1 else {
      return nil
    }
    (self.begin, self.end) = (begin, end)
  }
}

extension EtcdCertificates {
  /// From when to when the certificates in the files are good, by the files' paths.
  ///
  /// Of a file with several certificates the first counts, which of a client's is its own. The
  /// authorities of the system are left out.
  ///
  /// - Throws: `StorageError` when a file can't be read.
  package func validities() throws(StorageError) -> [String: EtcdValidity] {
    var validities: [String: EtcdValidity] = [:]
    for path in paths.prefix(2) where !path.isEmpty {
      validities[path] = EtcdValidity(of: try Self.text(path))
    }
    return validities
  }
}
