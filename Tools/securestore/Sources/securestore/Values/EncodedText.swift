/// Finds text that another tool has encrypted or encoded, which an import would store as it stands.
struct EncodedText {
  /// A tool, and how its text is turned back.
  struct Tool: Hashable {
    let name: String
    let advice: String

    /// The tool that has encrypted a text; nil for other text.
    init?(of text: String) {
      guard let tool = Self.known.first(where: { $0.isOwn(text) })?.tool else { return nil }
      self = tool
    }

    private init(_ name: String, _ advice: String) {
      self.name = name
      self.advice = advice
    }

    private static let dotenvx = Tool("dotenvx", "decrypt it with dotenvx decrypt")
    private static let dotenvVault = Tool("dotenv-vault", "decrypt the file with it")
    fileprivate static let kubernetes = Tool(
      "Kubernetes, in Base64", "decode the text")
    fileprivate static let sealedSecrets = Tool("Sealed Secrets", "take the Secret itself")

    /// The tool that a value's name belongs to; nil for other names.
    fileprivate static func ofName(_ name: String) -> Tool? {
      name.hasPrefix("DOTENV_PUBLIC_KEY")
        ? dotenvx : name.hasPrefix("DOTENV_VAULT") ? dotenvVault : nil
    }

    private static let known: [(tool: Tool, isOwn: @Sendable (String) -> Bool)] = [
      (
        Tool("sops", "decrypt it with sops decrypt"),
        { $0.hasPrefix("ENC[AES256_GCM,") && $0.hasSuffix("]") }
      ),
      (
        Tool("hiera-eyaml", "decrypt it with eyaml decrypt"),
        { ($0.hasPrefix("ENC[PKCS7,") || $0.hasPrefix("ENC[GPG,")) && $0.contains("]") }
      ),
      (dotenvx, { $0.hasPrefix("encrypted:") && isBase64($0.dropFirst(10)) }),
      (
        Tool("ansible-vault", "decrypt it with ansible-vault"),
        { $0.drop(while: \.isWhitespace).hasPrefix("$ANSIBLE_VAULT;") }
      ),
      (
        Tool("age", "decrypt it with age --decrypt"),
        {
          $0.contains("-----BEGIN AGE ENCRYPTED FILE-----")
            || $0.hasPrefix("age-encryption.org/")
        }
      ),
      (
        Tool("OpenPGP", "decrypt it with gpg --decrypt"),
        { $0.contains("-----BEGIN PGP MESSAGE-----") }
      ),
      (Tool("Jasypt", "decrypt it first"), { $0.hasPrefix("ENC(") && $0.hasSuffix(")") }),
      (Tool("Spring Cloud Config", "decrypt it first"), { $0.hasPrefix("{cipher}") }),
    ]

    private static func isBase64(_ text: Substring) -> Bool {
      !text.isEmpty
        && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "+/=_-".contains($0)) }
    }
  }

  private var names: [(tool: Tool, names: [String])] = []

  /// Looks through the values of a file.
  init(in entries: [(name: String, given: GivenValue)]) {
    let kind = entries.first { $0.name == "kind" }?.given.string
    for (name, given) in entries {
      if let tool = Tool.ofName(name) { add(tool, name) }
      switch given {
      case .text(let text): look(in: .string(text), name)
      case .json(let json):
        look(in: json, name)
        let isText = kind == "Secret" && (name == "data" || name.hasPrefix("data."))
        if isText, json.isFilled { add(.kubernetes, name) }
      case .plain, .bytes: break
      }
      if kind == "SealedSecret", name == "spec" || name.hasPrefix("spec.encryptedData") {
        add(.sealedSecrets, name)
      }
    }
  }

  /// A warning for each tool that was found; names values, and quotes nothing from them.
  var warnings: [String] {
    names.map { tool, names in
      "still encrypted or encoded by \(tool.name), and stored so: "
        + names.prefix(10).joined(separator: ", ")
        + (names.count > 10 ? " and \(names.count - 10) more" : "")
        + "; \(tool.advice) before the import"
    }
  }

  /// The error of a file that is encrypted as a whole; nil for another file.
  static func failure(of bytes: [UInt8]) -> Failure? {
    let start = String(decoding: bytes.prefix(100), as: UTF8.self)
    let trimmed = String(start.drop(while: \.isWhitespace))
    let (name, advice): (String, String)
    if start.hasPrefix("\0GITCRYPT\0") {
      (name, advice) = ("git-crypt", "run git-crypt unlock")
    } else if start.hasPrefix("Salted__") {
      (name, advice) = ("openssl enc", "decrypt it")
    } else if trimmed.hasPrefix("-----BEGIN") || trimmed.hasPrefix("age-encryption.org/")
      || trimmed.hasPrefix("$ANSIBLE_VAULT;"), let tool = Tool(of: trimmed)
    {
      (name, advice) = (tool.name, tool.advice)
    } else {
      return nil
    }
    return Failure(
      .malformedInput,
      "the file is encrypted by \(name), and nothing was imported; \(advice) before the import")
  }

  private mutating func add(_ tool: Tool, _ name: String) {
    guard let index = names.firstIndex(where: { $0.tool == tool }) else {
      names.append((tool, [name]))
      return
    }
    if names[index].names.last?.isExactly(name) != true { names[index].names.append(name) }
  }

  private mutating func look(in json: JSONValue, _ name: String) {
    switch json {
    case .string(let text): if let tool = Tool(of: text) { add(tool, name) }
    case .array(let values): for value in values { look(in: value, name) }
    case .object(let members):
      if json["kind"]?.string == "Secret", json["data"]?.isFilled == true {
        add(.kubernetes, name)
      }
      for (_, value) in members { look(in: value, name) }
    case .null, .bool, .number: break
    }
  }
}

extension GivenValue {
  fileprivate var string: String? {
    if case .json(let json) = self { json.string } else { nil }
  }
}

extension JSONValue {
  /// Whether it is text, or an object with members.
  fileprivate var isFilled: Bool {
    switch self {
    case .string(let text): !text.isEmpty
    case .object(let members): !members.isEmpty
    default: false
    }
  }
}
