internal import ArgumentParser
internal import CryptoCore
internal import Foundation
internal import StorageCore

/// Stores a random secret that nobody has seen.
struct GenerateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "generate", abstract: "Store a random secret, which is not shown.",
    discussion: """
      The secret comes from the kernel's random generator. It is stored as text: Base64 with - and _ and \
      without = at the end, or digits with --hex; or as data with --data. If the name already has a value, \
      nothing is changed, unless --replace is given.
      """)

  @Argument(help: "The name of the value.", completion: ValueName.completion) var name: String

  @Option(
    help: ArgumentHelp(
      "How many random bytes: \(Self.limits.lowerBound) to \(Self.limits.upperBound).",
      valueName: "number"))
  var bytes = 32

  @Flag(name: .customLong("hex"), help: "Store hexadecimal digits.") var isHexadecimal = false

  @Flag(name: .customLong("data"), help: "Store the bytes themselves, as data.") var isData = false

  @Flag(name: .customLong("replace"), help: "Replace an existing value.") var replaces = false

  @OptionGroup(title: "Store") var store: StoreOptions
  @OptionGroup(title: "Key") var key: KeyOptions
  @OptionGroup(title: "Output") var output: OutputOptions

  /// Fewer bytes could be guessed; more are no secret but a file.
  private static let limits = 16...4096

  func validate() throws {
    guard !(isHexadecimal && isData) else {
      throw ValidationError("give --hex or --data, not both")
    }
    guard Self.limits.contains(bytes) else {
      throw ValidationError(
        "--bytes is \(Self.limits.lowerBound) to \(Self.limits.upperBound)")
    }
  }

  func run() throws {
    try ValueName.requireNoValue(in: name)
    let storage = try store.place().values(key)
    let random = try SecureBytes.random(count: bytes)
    let form = try storage.transaction { transaction in
      guard try replaces || !transaction.contains(name) else {
        throw Failure(
          .exists, "there is already a value, and nothing was changed; --replace replaces it",
          key: name)
      }
      if isData {
        try transaction.save(Optional(Data(random.array)), forKey: name)
      } else {
        try transaction.save(Optional(text(of: random)), forKey: name)
      }
      return try transaction.form(of: name)
    }
    try output.output.done(
      "generated \(name): \(bytes) random bytes, stored \(form)",
      (["name": name, "random": bytes] as JSONValue).with(form.json))
  }

  private func text(of random: SecureBytes) -> String {
    guard !isHexadecimal else {
      return random.array.map { byte in
        let digits = String(byte, radix: 16)
        return digits.utf8.count == 1 ? "0" + digits : digits
      }.joined()
    }
    return Data(random.array).base64EncodedString()
      .replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
      .replacingOccurrences(of: "=", with: "")
  }
}
