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
    message = error.message
    key = error.key
    path = error.path
    number = error.number
  }

  /// A failed system call.
  init(system call: String, path: String?, number: Int32) {
    let status: ExitStatus =
      switch number {
      case ENOENT: .noInput
      case EPERM, EACCES: .denied
      case EEXIST: .exists
      case ENOSPC, EDQUOT: .full
      case EROFS: .readOnly
      default: .io
      }
    self.init(status, "\(call): \(Self.text(of: number))", path: path)
    self.number = Int(number)
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
    var error: [(String, JSONValue)] = [
      ("code", .string(code)), ("message", .string(message)),
      ("exit", .number("\(status.rawValue)")),
    ]
    if let key { error.append(("key", .string(key))) }
    if let path { error.append(("path", .string(path))) }
    if let number { error.append(("number", .number("\(number)"))) }
    if !choices.isEmpty { error.append(("choices", .array(choices.map { $0.json }))) }
    return .object([("error", .object(error))])
  }
}
