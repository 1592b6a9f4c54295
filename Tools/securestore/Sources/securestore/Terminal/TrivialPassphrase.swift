internal import CryptoCore

/// Recognizes passphrases that attackers guess first.
///
/// A slot does not show how strong its passphrase is, so the warning comes only when it is created.
enum TrivialPassphrase {
  /// Attackers find shorter passphrases that people choose by trying: NIST SP 800-63B, appendix A.
  private static let length = 12

  /// What makes a passphrase easy to guess; nil if nothing was found.
  static func fault(of passphrase: SecureBytes) -> String? {
    let bytes = passphrase.array
    if repeats(bytes) { return "it repeats one piece again and again" }
    if counts(bytes) { return "its characters only count up or down" }
    if let text = passphrase.text, isCommon(text) {
      return "it is a common passphrase that attackers try first"
    }
    if (passphrase.text?.count ?? bytes.count) < length {
      return "it has fewer than \(length) characters"
    }
    return nil
  }

  /// Whether the passphrase repeats a piece of at most four bytes.
  private static func repeats(_ bytes: [UInt8]) -> Bool {
    (1...4).contains { length in
      bytes.count >= 2 * length && bytes.indices.allSatisfy { bytes[$0] == bytes[$0 % length] }
    }
  }

  private static func counts(_ bytes: [UInt8]) -> Bool {
    let steps = zip(bytes, bytes.dropFirst()).map { Int($1) - Int($0) }
    // On a keyboard, 0 follows 9.
    return steps.count > 2
      && (steps.allSatisfy { $0 == 1 || $0 == -9 } || steps.allSatisfy { $0 == -1 || $0 == 9 })
  }

  private static func isCommon(_ text: String) -> Bool {
    let letters = String(
      text.lowercased().unicodeScalars.compactMap { scalar -> Character? in
        if let letter = look[scalar] { return Character(letter) }
        return scalar.properties.isAlphabetic ? Character(scalar) : nil
      })
    // Attackers also try common suffixes, as in password2026!.
    let word = String(
      text.lowercased().reversed().drop { !$0.isLetter }.reversed().filter(\.isLetter))
    return common.contains(letters) || common.contains(word)
  }

  /// Digits and signs that stand for letters.
  private static let look: [Unicode.Scalar: Unicode.Scalar] = [
    "0": "o", "1": "i", "3": "e", "4": "a", "5": "s", "7": "t", "@": "a", "$": "s", "!": "i",
  ]

  private static let common: Set<String> = [
    "abcabc", "administrator", "admin", "adminadmin", "asdfasdf", "asdfghjkl", "baseball",
    "basketball", "changeit", "changeme", "changemeplease", "computer", "correcthorsebatterystaple",
    "database", "default", "dragon", "example", "football", "freedom", "geheim", "hello",
    "helloworld", "hunter", "iloveyou", "jesus", "letmein", "letmeinplease", "login", "loveme",
    "master", "michael", "monkey", "motdepasse", "mypassphrase", "mypassword", "nothing",
    "passphrase",
    "password", "passwordpassword", "passwort", "postgres", "princess", "qazwsx", "qazwsxedc",
    "qwerty", "qwertyqwerty", "qwertyui", "qwertyuiop", "qwertz", "qwertzuiop", "qwertzui",
    "root", "rootroot", "secret", "secretpassword", "secretsecret", "securestore", "shadow",
    "starwars", "sunshine", "superman", "supersecret", "test", "testpassword", "testtest",
    "thisisasecret", "topsecret", "trustnoone", "welcome", "whatever", "yourpassword", "zxcvbnm",
  ]
}

extension Output {
  /// Warns if a new passphrase is easy to guess.
  func warn(ofTrivial passphrase: SecureBytes) {
    guard let fault = TrivialPassphrase.fault(of: passphrase) else { return }
    warn(
      .unsound,
      "the new passphrase is easy to guess: \(fault). Anyone with a copy of the vault can try guesses; use "
        + "several unrelated words")
  }
}
