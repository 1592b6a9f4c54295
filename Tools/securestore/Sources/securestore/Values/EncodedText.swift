/// Finds text that another tool has encrypted, which an import would store as it stands.
enum EncodedText {
  /// A tool, and how its text is turned back.
  struct Tool {
    let name: String
    let advice: String
    /// How its texts begin.
    fileprivate let marks: [String]

    fileprivate init(_ name: String, _ advice: String, _ marks: String...) {
      (self.name, self.advice, self.marks) = (name, advice, marks)
    }
  }

  private static let tools = [
    Tool("sops", "decrypt it with sops decrypt", "ENC[AES256_GCM,"),
    Tool("hiera-eyaml", "decrypt it with eyaml decrypt", "ENC[PKCS7,", "ENC[GPG,"),
    // Base64 of an elliptic curve's point, which begins with the byte 4.
    Tool("dotenvx", "decrypt it with dotenvx decrypt", "encrypted:B"),
    Tool("ansible-vault", "decrypt it with ansible-vault", "$ANSIBLE_VAULT;"),
    Tool(
      "age", "decrypt it with age --decrypt", "-----BEGIN AGE ENCRYPTED FILE-----",
      "age-encryption.org/"),
    Tool("OpenPGP", "decrypt it with gpg --decrypt", "-----BEGIN PGP MESSAGE-----"),
    Tool("Jasypt", "decrypt it first", "ENC("),
    Tool("Spring Cloud Config", "decrypt it first", "{cipher}"),
    Tool("git-crypt", "run git-crypt unlock", "\0GITCRYPT\0"),
    Tool("openssl enc", "decrypt it", "Salted__"),
  ]

  /// The tool that has encrypted a text; nil for other text.
  static func tool(of text: String) -> Tool? {
    let start = text.drop(while: \.isWhitespace)
    return tools.first { $0.marks.contains { start.hasPrefix($0) } }
  }

  /// A warning for each tool that encrypted values; names the values, and quotes nothing from them.
  static func warnings(of entries: [(name: String, given: GivenValue)]) -> [String] {
    let found = entries.compactMap { name, given -> (tool: Tool, name: String)? in
      switch given {
      case .text(let text): tool(of: text).map { ($0, name) }
      case .json(let json): tool(in: json).map { ($0, name) }
      case .plain, .bytes: nil
      }
    }
    return tools.compactMap { tool in
      let names = found.filter { $0.tool.name == tool.name }.map(\.name)
      guard !names.isEmpty else { return nil }
      return "still encrypted or encoded by \(tool.name), and stored so: "
        + names.listed + "; \(tool.advice) before the import"
    }
  }

  /// The error of a file that is encrypted as a whole; nil for another file.
  static func failure(of bytes: [UInt8]) -> Failure? {
    tool(of: String(decoding: bytes.prefix(100), as: UTF8.self)).map { tool in
      Failure(
        .malformedInput,
        "the file is encrypted by \(tool.name), and nothing was imported; \(tool.advice) before the import"
      )
    }
  }

  private static func tool(in json: JSONValue) -> Tool? {
    switch json {
    case .string(let text): tool(of: text)
    case .array(let values): values.lazy.compactMap { tool(in: $0) }.first
    case .object(let members): members.lazy.compactMap { tool(in: $0.1) }.first
    case .null, .bool, .number: nil
    }
  }
}
