internal import Foundation
internal import Glibc
internal import StorageCore

/// The unencrypted keyrings of gnome-keyring: those that have no password.
///
/// gnome-keyring writes such a keyring as text. It writes a secret's line breaks as they are, and
/// does not read the file back: at its next start the whole keyring is gone, with all items of all
/// programs (https://gitlab.gnome.org/GNOME/gnome-keyring/-/issues/103).
struct UnencryptedKeyrings {
  /// The names of their files, without the extension, each with what people call the keyring.
  let labels: [String: String]
  /// The name of the default keyring.
  private let standard: String

  static let advice =
    "gnome-keyring loses the whole keyring when it starts next, with the items of all programs"

  /// Looks at the files of gnome-keyring.
  ///
  /// - Throws: `Failure` for a folder or a file that can't be read: a keyring in it may be one of
  ///   those.
  init() throws {
    let data =
      Environment.value("XDG_DATA_HOME") ?? (Environment.value("HOME") ?? "") + "/.local/share"
    let folder = data + "/keyrings"
    let names: [String]
    do {
      names = try FileManager.default.contentsOfDirectory(atPath: folder)
    } catch CocoaError.fileReadNoSuchFile {
      names = []
    } catch {
      throw Failure(listing: folder, error as NSError)
    }
    var labels: [String: String] = [:]
    for name in names where name.hasSuffix(".keyring") {
      guard let label = try Self.label(ofTextual: "\(folder)/\(name)") else { continue }
      labels[String(name.dropLast(".keyring".count))] = label
    }
    self.labels = labels
    let text = try Self.start(of: "\(folder)/default").map { String(decoding: $0, as: UTF8.self) }
    standard = text?.trimmingCharacters(in: .whitespacesAndNewlines) ?? "login"
  }

  /// The name of an unencrypted keyring for people; nil if the file is of another form.
  private static func label(ofTextual path: String) throws -> String? {
    guard let bytes = try start(of: path) else { return nil }
    let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
    guard lines.first == "[keyring]" else { return nil }
    let name = lines.first { $0.hasPrefix("display-name=") }?.dropFirst("display-name=".count)
    return name.map(String.init) ?? ""
  }

  /// The first bytes of a file, before any secret; nil when there is no file.
  private static func start(of path: String) throws -> [UInt8]? {
    guard let file = try OpenFile(path, O_RDONLY | O_NONBLOCK) else { return nil }
    return try file.readFirst(256)
  }

  /// What people call the unencrypted keyring in which an item is or would be made.
  ///
  /// - Parameters:
  ///   - ids: the ids of the items that are there.
  ///   - group: the collection that the operator named.
  /// - Returns: the name, or nil if that keyring is encrypted.
  func target(of ids: [String], _ group: String?) -> String? {
    for id in ids {
      let name = Self.decoded(id.split(separator: "/").first ?? "")
      if let label = labels[name] { return label.isEmpty ? name : label }
    }
    guard ids.isEmpty else { return nil }
    guard let group, group != "default" else {
      return labels[standard].map { $0.isEmpty ? standard : $0 }
    }
    return labels.first { $0.key.isExactly(group) || $0.value.isExactly(group) }.map { _ in group }
  }

  /// The name in a part of an object's path, where gnome-keyring writes other characters than
  /// letters and digits as `_` and their number.
  private static func decoded(_ part: Substring) -> String {
    var bytes: [UInt8] = []
    var rest = Array(part.utf8)[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "_"), rest.count >= 2,
        let code = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
      else {
        bytes.append(byte)
        continue
      }
      bytes.append(code)
      rest = rest.dropFirst(2)
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The findings of doctor.
  static func findings() -> [Finding] {
    do {
      return try UnencryptedKeyrings().findings
    } catch {
      let failure = (error as? StorageError).map { Failure($0) } ?? error as? Failure
      return [
        Finding(
          "keyring file", .bad,
          "whether a keyring has a password is not known: \(failure?.message ?? "\(error)")")
      ]
    }
  }

  private var findings: [Finding] {
    labels.sorted { $0.key < $1.key }.map { name, label in
      Finding(
        "keyring file", .ignored,
        "the keyring \"\(label.isEmpty ? name : label)\" has no password, so it is not encrypted. If a "
          + "program stores a text of several lines there, \(Self.advice). Give the keyring a password "
          + "in the desktop's password program")
    }
  }
}
