internal import StorageCore

/// The host, port, path and protocol of a server, which a keyring stores without encryption.
struct ServerAddress {
  /// Why these are no address; nil if they are one.
  ///
  /// Quotes nothing, since what was given instead
  /// may be a URL with a password in it.
  let failure: StorageError?

  init(host: String, port: Int?, path: String?, protocol: InternetProtocol?) {
    let fault: String? =
      if !Self.isHost(host) {
        "internet credentials need the host name of a server alone; give a URL as a URL, and the account, port "
          + "and path apart from the name"
      } else if let port, !(1...65_535).contains(port) {
        "the port of internet credentials is 1 to 65535"
      } else if let path, path.unicodeScalars.contains(where: { "?#".unicodeScalars.contains($0) })
      {
        "the path of internet credentials has no ? and no #: what follows them may be a secret, and a "
          + "keyring stores the path without encryption"
      } else if let name = `protocol`?.rawValue, !Self.isScheme(name) {
        "the protocol of internet credentials is the scheme of a URL, such as https"
      } else {
        nil
      }
    failure = fault.map { StorageError(.invalid, $0) }
  }

  /// Whether the text is a host name or an IP address: RFC 3986, section 3.2.2, with letters of any
  /// language as browsers show them.
  private static func isHost(_ text: String) -> Bool {
    if text.utf8.contains(UInt8(ascii: ":")) { return isIPv6(text) }
    return !text.isEmpty
      && text.unicodeScalars.allSatisfy { scalar in
        scalar.isASCII
          ? "-._~%".unicodeScalars.contains(scalar) || isLetterOrDigit(scalar)
          : scalar.properties.isAlphabetic || scalar.properties.numericType != nil
            || scalar.properties.generalCategory == .nonspacingMark
            || scalar.properties.generalCategory == .spacingMark
      }
  }

  /// Whether the text has the form of an IPv6 address, with or without brackets and a zone.
  private static func isIPv6(_ text: String) -> Bool {
    var address = text[...]
    if address.hasPrefix("["), address.hasSuffix("]") { address = address.dropFirst().dropLast() }
    let parts = address.split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false)
    let zone = parts.dropFirst().first ?? "0"
    return parts[0].utf8.count(where: { $0 == UInt8(ascii: ":") }) >= 2
      && parts[0].unicodeScalars.allSatisfy {
        "0123456789abcdefABCDEF:.".unicodeScalars.contains($0)
      }
      && !zone.isEmpty
      && zone.unicodeScalars.allSatisfy {
        isLetterOrDigit($0) || "-._~%".unicodeScalars.contains($0)
      }
  }

  private static func isScheme(_ text: String) -> Bool {
    !text.isEmpty
      && text.unicodeScalars.allSatisfy { isLetterOrDigit($0) || "+-.".unicodeScalars.contains($0) }
  }

  private static func isLetterOrDigit(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "a"..."z", "A"..."Z", "0"..."9": true
    default: false
    }
  }
}
