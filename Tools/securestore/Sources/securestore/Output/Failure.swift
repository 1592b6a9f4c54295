internal import CryptoCore
internal import Foundation
internal import Glibc
internal import StorageCore

/// Why a command failed, in one line, and what there is to choose from; never contains a secret.
struct Failure: Error {
  let status: ExitStatus
  /// A word for programs, as the codes of `StorageError`.
  let code: String
  let message: String
  var key: String?
  var path: String?
  var number: Int?
  /// The items of the keyring that the operator can choose from.
  var choices: [PlainItem] = []

  init(_ status: ExitStatus, _ message: String, key: String? = nil, path: String? = nil) {
    self.status = status
    code = "\(status)"
    self.message = message
    self.key = key
    self.path = path
  }

  init(_ error: StorageError) {
    status = ExitStatus(error.code)
    code = error.code.description
    message = Self.inWordsOfTheProgram(error.message)
    key = error.key
    path = error.path
    number = error.number
  }

  /// The library's message, with commands and options in the place of its names.
  private static func inWordsOfTheProgram(_ message: String) -> String {
    let words = [
      ("trust its group with FolderTrust.processGroup", "trust its group with --group-folder"),
      (
        "Call keyAdministration.reencrypt(), which finishes an interrupted rotation;",
        "Run rotate --resume, which finishes an interrupted rotation;"
      ),
      (
        "When you know that it lists all values, call keyAdministration.dropRetiredKeys()",
        "Then the program that keeps them has to drop the retired keys"
      ),
      (", or call keyAdministration.add(_:)", ""),
      ("store it with @SealedFile or in a SealedFolder", "store it with files put"),
      ("start anew with discard() of each store", "start anew with reset of each store"),
      ("start anew with discard(),", "start anew with reset (files reset for a sealed folder),"),
      ("discard it with discard(), or remove its file", "remove its file"),
    ]
    return words.reduce(message) { $0.replacing($1.0, with: $1.1) }
  }

  /// A failed system call.
  init(system call: String, path: String?, number: Int32) {
    let status: ExitStatus =
      switch number {
      case ENOENT: .noInput
      case EPERM, EACCES: .denied
      case EEXIST: .exists
      case ENOSPC, EDQUOT, EFBIG: .full
      case ENOLCK, EOPNOTSUPP, ENOSYS: .unsupported
      case ENAMETOOLONG: .usage
      case EROFS: .readOnly
      default: .io
      }
    let advice =
      number == EFBIG ? "; raise the limit for the size of a file (ulimit -f), then try again" : ""
    self.init(status, "\(call): \(Self.text(of: number))\(advice)", path: path)
    self.number = Int(number)
  }

  /// A folder that could not be listed.
  init(listing folder: String, _ error: NSError) {
    let cause = Self(foundation: error)
    let advice =
      switch cause.number.map({ Int32($0) }) {
      case EACCES, EPERM: "; run as its owner, or run chmod u+rx on it"
      case ENOTDIR: "; a file stands where a folder is needed: move it away"
      default: ""
      }
    let text = cause.number.map { Self.text(of: Int32($0)) } ?? cause.message
    self.init(cause.status, "list the folder: \(text)\(advice)", path: folder)
    number = cause.number
  }

  /// An error of Foundation, which says nothing that a user could act on.
  init(foundation error: NSError) {
    let path = error.userInfo[NSFilePathErrorKey] as? String
    guard let number = Self.number(of: error) else {
      self.init(.io, "the system refused to use a file, and did not say why", path: path)
      return
    }
    self.init(system: "could not use the file", path: path, number: number)
  }

  /// The errno behind an error of Foundation; nil if it names none.
  private static func number(of error: NSError) -> Int32? {
    if let cause = error.userInfo[NSUnderlyingErrorKey] as? POSIXError {
      return cause.code.rawValue
    }
    if error.domain == NSPOSIXErrorDomain { return Int32(error.code) }
    switch CocoaError.Code(rawValue: error.code) {
    case .fileReadNoPermission, .fileWriteNoPermission: return EACCES
    case .fileReadNoSuchFile, .fileNoSuchFile: return ENOENT
    case .fileWriteOutOfSpace: return ENOSPC
    default: return nil
    }
  }

  /// A file or folder that could not be created, with advice.
  init(making what: String, path: String, number: Int32) {
    let cause = Self.text(of: number)
    let (status, advice): (ExitStatus, String) =
      switch number {
      case ENOENT: (.unavailable, "")
      case EEXIST, ENOTDIR: (.exists, "; a file stands where a folder is needed")
      case EACCES, EPERM:
        Path.isFolderOurs(of: path)
          ? (.readOnly, "; make its folder writable")
          : (.denied, "; its folder belongs to another user")
      default: (Self(system: "", path: nil, number: number).status, "")
      }
    self.init(status, "make the \(what): \(cause)\(advice)", path: path)
    self.number = Int(number)
  }

  /// The line for people, without characters that end a line or control a terminal.
  var line: String {
    var subject = ""
    if let key { subject += "key \"\(key)\": " }
    if let path { subject += "\(path): " }
    let suffix = number.map { " (\($0))" } ?? ""
    return Printable.line("\(code): \(subject)\(message)\(suffix)")
  }

  /// The failure as JSON.
  var json: JSONValue {
    var error: JSONValue = ["code": code, "message": message, "exit": status.rawValue]
    if let key { error = error.with(["key": key]) }
    if let path { error = error.with(["path": path]) }
    if let number { error = error.with(["number": number]) }
    if !choices.isEmpty { error = error.with(["choices": choices]) }
    return ["error": error]
  }
}

extension Failure {
  /// The text of strerror(3) for an errno.
  static func text(of number: Int32) -> String { unsafe SystemText.shown(strerror(number)) }
}
