internal import StorageCore

/// The address of one member of etcd.
struct EtcdEndpoint: Sendable {
  /// As the program gave it.
  let text: String
  /// Whether the connection is encrypted.
  let isEncrypted: Bool
  /// The address as gRPC takes it.
  let target: String
  /// The host's name or number, without brackets, and the port.
  let (host, port): (String, Int)

  /// The endpoint of a text such as "https://10.0.0.5:2379" or "http://127.0.0.1:2379".
  ///
  /// - Throws: `invalid` for any other text.
  init(_ text: String) throws(StorageError) {
    let parts = text.split(separator: "://", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, let port = Self.port(of: parts[1]),
      ["http", "https"].contains(parts[0]), (1...65535).contains(port)
    else {
      // Without the text, which may hold a password.
      throw StorageError(
        .invalid,
        "an endpoint of etcd is written like https://10.0.0.5:2379, with http, https, a host and a port"
      )
    }
    self.text = text
    isEncrypted = parts[0] == "https"
    target = "dns:///" + parts[1]
    let name = parts[1].prefix(upTo: parts[1].lastIndex(of: ":") ?? parts[1].endIndex)
    (host, self.port) = (name.trimmingPrefix("[").split(separator: "]").joined(), port)
  }

  /// The port of "host:port"; nil if the text is something else.
  private static func port(of address: Substring) -> Int? {
    guard let colon = address.lastIndex(of: ":"),
      address[..<colon].wholeMatch(of: /\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+/) != nil
    else { return nil }
    let digits = address[address.index(after: colon)...]
    guard digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
      return nil
    }
    return Int(digits)
  }
}
