internal import ArgumentParser
internal import Foundation
internal import Glibc
internal import StorageCore
internal import VaultBackend

/// Completes the names of values for a shell.
///
/// It never prompts, reads no descriptor, does not use the keyring, and leaves no file behind.
/// Reading a vault creates files beside it, so a temporary copy, which is sealed as well, is read
/// instead.
enum NameCompletion {
  /// The largest vault in bytes; a larger one would keep the shell waiting.
  private static let sizeLimit = 64 << 20
  private static let vaultOptions = ["--vault", "--app", "--authentication-tag"]
  private static let keyOptions = ["--key-file", "--key-env", "--credential"]
  /// Options that would need a prompt, or a secret that can be read only once.
  private static let askingOptions = [
    "--passphrase", "--passphrase-fd", "--passphrase-file", "--recovery", "--recovery-fd", "--key",
    "--key-command", "--passphrase-command", "--recovery-command",
  ]

  /// The names, without those that a shell would change.
  ///
  /// - Parameter words: the typed line.
  /// - Returns: the names; none if they can't be read silently.
  static func names(for words: [String]) -> [String] {
    // The user is typing a line, so errors are not reported.
    do { return try listing(words).filter(isPlain).sorted() } catch { return [] }
  }

  private static func listing(_ words: [String]) throws -> [String] {
    let words = joined(words)
    let unlisted = askingOptions + ["--suite", "--folder", "--etcd", "--postgres"]
    guard !words.contains(where: { word in unlisted.contains { word.isOption($0) } }) else {
      return []
    }
    let place = try StoreOptions.parse(picked(vaultOptions, words)).vaultPlace()
    let key = try KeyOptions.parse(picked(keyOptions, words))
    return try copying(place.path) { copy in
      let source = try place.silentSource(key)
      return try place.storage(source, .readOnly, at: copy).listing().keys
    }
  }

  /// The words with `--vault = x`, which bash splits, joined again.
  private static func joined(_ words: [String]) -> [String] {
    var joined: [String] = []
    for word in words {
      if word == "=", let last = joined.last, last.hasPrefix("--") {
        joined[joined.count - 1] = last + "="
      } else if let last = joined.last, last.hasPrefix("--"), last.hasSuffix("=") {
        joined[joined.count - 1] = last + word
      } else {
        joined.append(word)
      }
    }
    return joined
  }

  /// The given options with their values; the last one of each name counts.
  private static func picked(_ names: [String], _ words: [String]) -> [String] {
    names.flatMap { name -> [String] in
      guard let index = words.lastIndex(where: { $0.isOption(name) }) else { return [] }
      let value = words[index].dropFirst(name.count + 1)
      if words[index] != name { return [name, path(String(value))] }
      return index + 1 < words.count ? [name, path(words[index + 1])] : []
    }
  }

  /// The word after the shell's simple expansions.
  private static func path(_ word: String) -> String {
    guard word.hasPrefix("~/"), let home = Environment.value("HOME") else { return word }
    return home + word.dropFirst()
  }

  /// Lends a copy of a vault, which is deleted when `body` returns.
  ///
  /// A copy that is made during a write may be inconsistent; then it does not open.
  private static func copying(_ path: String, _ body: (String) throws -> [String]) throws
    -> [String]
  {
    let base = Environment.value("XDG_RUNTIME_DIR") ?? "/tmp"
    // A shell ends this process when its user continues to type; the copy must be deleted even
    // then.
    var (all, old) = (sigset_t(), sigset_t())
    unsafe sigfillset(&all)
    unsafe pthread_sigmask(SIG_BLOCK, &all, &old)
    defer { unsafe pthread_sigmask(SIG_SETMASK, &old, nil) }
    var template = Array((base + "/securestore-XXXXXX").utf8CString)
    let isMade = unsafe template.withUnsafeMutableBufferPointer {
      unsafe mkdtemp($0.baseAddress!) != nil
    }
    guard isMade else { throw Failure(system: "make a folder", path: base, number: errno) }
    let folder = String(
      decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    defer { remove(folder) }
    var total = 0
    for suffix in ["", "-wal"] {
      guard let bytes = try contents(of: path + suffix) else {
        guard suffix.isEmpty else { continue }
        return []
      }
      total += bytes.count
      guard total <= sizeLimit else { return [] }
      try write(bytes, to: folder + "/vault" + suffix)
    }
    return try body(folder + "/vault")
  }

  private static func contents(of path: String) throws -> [UInt8]? {
    let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY
    guard let file = try OpenFile(path, flags) else { return nil }
    return try file.readAll(limit: sizeLimit)
  }

  private static func write(_ bytes: [UInt8], to path: String) throws {
    let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw Failure(system: "make", path: path, number: errno) }
    defer { close(descriptor) }
    try Output.write(bytes, to: descriptor, path: path)
  }

  private static func remove(_ folder: String) {
    for suffix in ["", "-wal", "-shm", "-journal", "-notice"] {
      unsafe unlink(folder + "/vault" + suffix)
    }
    unsafe rmdir(folder)
  }

  /// Whether every shell keeps the name unchanged: bash expands the words that it is given.
  private static func isPlain(_ name: String) -> Bool {
    !name.hasPrefix("-")
      && name.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"):
          true
        default: "_.,/@%+-".utf8.contains(byte)
        }
      }
  }
}

extension String {
  /// Whether a word is an option, alone or with its value.
  fileprivate func isOption(_ name: String) -> Bool { self == name || hasPrefix(name + "=") }
}
