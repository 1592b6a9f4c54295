internal import CryptoCore

/// Passphrases that are guessed first.
///
/// A slot does not show how good its passphrase is, so this is said when it is made, and never again.
enum TrivialPassphrase {
  /// Below that, a person's choice is found by trying: NIST SP 800-63B, appendix A.
  private static let length = 12

  /// What makes a passphrase easy to guess; nil when nothing is found.
  static func fault(of passphrase: SecureBytes) -> String? {
    let bytes = passphrase.array
    if repeats(bytes) { return "it says one thing again and again" }
    if counts(bytes) { return "its characters only count up or down" }
    if let text = passphrase.text, isCommon(text) {
      return "it is one of those that are tried first"
    }
    if (passphrase.text?.count ?? bytes.count) < length {
      return "it has fewer than \(length) characters"
    }
    return nil
  }

  /// Whether it is a piece of at most four bytes, over and over.
  private static func repeats(_ bytes: [UInt8]) -> Bool {
    (1...4).contains { length in
      bytes.count >= 2 * length && bytes.indices.allSatisfy { bytes[$0] == bytes[$0 % length] }
    }
  }

  private static func counts(_ bytes: [UInt8]) -> Bool {
    let steps = zip(bytes, bytes.dropFirst()).map { Int($1) - Int($0) }
    // The 0 follows the 9 on a keyboard.
    return steps.count > 2
      && (steps.allSatisfy { $0 == 1 || $0 == -9 } || steps.allSatisfy { $0 == -1 || $0 == 9 })
  }

  private static func isCommon(_ text: String) -> Bool {
    let letters = String(
      text.lowercased().unicodeScalars.compactMap { scalar -> Character? in
        if let letter = look[scalar] { return Character(letter) }
        return scalar.properties.isAlphabetic ? Character(scalar) : nil
      })
    // What is put behind a word, as in password2026!, is tried as well.
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
  /// Warns of a passphrase that is about to become what opens a vault, and is easy to guess.
  func warn(ofTrivial passphrase: SecureBytes) {
    guard let fault = TrivialPassphrase.fault(of: passphrase) else { return }
    warn(
      .unsound,
      "the new passphrase is easy to guess: \(fault). Whoever has a copy of the vault can try; take several "
        + "words that have nothing to do with each other")
  }
}
