internal import Glibc

/// Ports of this machine.
package enum FreePorts {
  /// Ports on which nobody listened a moment ago.
  ///
  /// They are below those that the system gives to connections (`ip_local_port_range`), of which hundreds
  /// come and go: a server that is killed and started again finds its port free.
  package static func find(_ count: Int) -> [Int] {
    var found: [(socket: Int32, port: Int)] = []
    while found.count < count {
      if let one = listen(on: .random(in: 10_000..<32_768)) { found.append(one) }
    }
    for (socket, _) in found { close(socket) }
    return found.map(\.port)
  }

  /// A socket that listens on a port that is free.
  package static func listen() -> (socket: Int32, port: Int) { listen(on: 0)! }

  private static func listen(on port: Int) -> (socket: Int32, port: Int)? {
    let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var address = address(port)
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = unsafe withUnsafeMutablePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        let isBound = unsafe bind(socket, pointer, size) == 0
        _ = unsafe getsockname(socket, pointer, &size)
        return isBound
      }
    }
    guard isBound, Glibc.listen(socket, 64) == 0 else {
      close(socket)
      return nil
    }
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
