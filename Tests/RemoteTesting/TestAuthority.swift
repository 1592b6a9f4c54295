package import Foundation
internal import StorageTesting
internal import TestSupport

/// An authority and the certificates of a server and a program, made by openssl(1), in a folder of
/// its own.
package final class TestAuthority: Sendable {
  private let folder: URL

  /// Makes them.
  ///
  /// - Parameters:
  ///   - days: for how long a certificate is valid; less than 0 for one that has expired.
  ///   - whose: whose certificate that is, "server" or "client".
  ///   - names: what the server's certificate is for.
  /// - Throws: what kept openssl from it.
  package init(
    days: Int = 2, of whose: String = "server", names: String = "IP:127.0.0.1,DNS:localhost"
  ) throws {
    folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let said = try Child.run([
      "sh", "-c",
      """
      cd \(folder.path) && exec 2>log && set -e
      make() { openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout $1.key \
        -out $1.csr -subj /CN=$1; }
      openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 9 \
        -keyout ca.key -out ca.pem -subj /CN=authority
      printf 'subjectAltName=\(names)\\n' >names
      make server
      # openssl can't sign backwards in every version, but takes a date in the past.
      openssl x509 -req -in server.csr -CA ca.pem -CAkey ca.key -set_serial 1 -days \(max(days, 1)) \
        -out server.pem -extfile names
      make client
      openssl x509 -req -in client.csr -CA ca.pem -CAkey ca.key -set_serial 2 -days 2 -out client.pem
      if [ \(days) -lt 0 ]; then
        mkdir old && : >old/index && echo 01 >old/serial
        printf '[ca]\\ndefault_ca=d\\n[d]\\ndatabase=old/index\\nserial=old/serial\\nnew_certs_dir=old\\ndefault_md=sha256\\npolicy=p\\n[p]\\ncommonName=supplied\\n' >old/conf
        openssl ca -batch -config old/conf -cert ca.pem -keyfile ca.key -in \(whose).csr \
          -startdate 20200101000000Z -enddate 20200102000000Z -extfile names -notext -out \(whose).pem >/dev/null
      fi
      echo made
      """,
    ])
    guard said.last == "made" else { throw CocoaError(.executableLoad) }
  }

  deinit { try? FolderRemoval.remove(folder) }

  package func file(_ name: String) -> URL { folder.appendingPathComponent(name) }
}
