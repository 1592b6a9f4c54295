internal import Foundation
internal import StorageCore

/// A server that answers whatever it is asked with the same bytes, and hangs up.
package final class OddServer: Sendable {
  package let port: Int
  private let socket: Int32

  package init(_ answer: String) {
    (socket, port) = FreePorts.listen()
    let socket = socket
    DetachedThread.start("odd") {
      while true {
        let client = accept(socket, nil, nil)
        guard client >= 0 else { return }
        var buffer = [UInt8](repeating: 0, count: 4096)
        _ = unsafe read(client, &buffer, buffer.count)
        _ = unsafe Array(answer.utf8).withUnsafeBytes {
          unsafe send(client, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
        close(client)
      }
    }
  }

  package func end() {
    shutdown(socket, Int32(SHUT_RDWR))
    close(socket)
  }
}
