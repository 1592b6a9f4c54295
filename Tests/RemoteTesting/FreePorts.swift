internal import Glibc

/// Ports of this machine.
package enum FreePorts {
  /// Ports on which nobody listened a moment ago.
  package static func find(_ count: Int) -> [Int] {
    let all = (0..<count).map { _ in listen() }
    for (socket, _) in all { close(socket) }
    return all.map(\.port)
  }

  /// A socket that listens on a free port.
  package static func listen() -> (socket: Int32, port: Int) {
    let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var address = address(0)
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    unsafe withUnsafeMutablePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        precondition(unsafe bind(socket, pointer, size) == 0, "no port is free")
        _ = unsafe getsockname(socket, pointer, &size)
      }
    }
    precondition(Glibc.listen(socket, 64) == 0, "the port can't be listened on")
    return (socket, Int(UInt16(bigEndian: address.sin_port)))
  }

  /// A connection to a port; nil if nobody listens there.
  package static func connect(_ port: Int) -> Int32? {
    let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var address = address(port)
    let result = unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        unsafe Glibc.connect(socket, pointer, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    if result == 0 { return socket }
    close(socket)
    return nil
  }

  private static func address(_ port: Int) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    return address
  }
}
