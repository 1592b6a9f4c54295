internal import Glibc

/// Standard output and standard error, with every write checked.
struct Output {
  let isJSON: Bool
  let isQuiet: Bool

  static var isTerminal: Bool { isatty(STDOUT_FILENO) == 1 }
  static var isErrorTerminal: Bool { isatty(STDERR_FILENO) == 1 }

  /// Writes a secret as it is; on a terminal only text, with a line break behind it.
  static func write(secret bytes: [UInt8], isText: Bool, _ noun: String, key: String) throws {
    guard isTerminal else { return try write(bytes) }
    guard isText else {
      throw Failure(
        .usage, "the \(noun) is data, not text; send it to a file or a pipe, or use --json",
        key: key)
    }
    try write(bytes + [UInt8(ascii: "\n")])
  }

  /// Writes names, each with its end; on a terminal in a form that is safe there.
  static func write(names: [String], endingWithZero endsWithZero: Bool) throws {
    let end = endsWithZero ? "\0" : "\n"
    try write(names.map { (isTerminal ? Printable.line($0) : $0) + end }.joined())
  }

  /// Writes columns of equal width.
  static func write(table rows: [[String]]) throws {
    try write(Printable.table(rows).map { $0 + "\n" }.joined())
  }

  /// Writes one line of the answer.
  func line(_ text: String) throws { try Self.write(text + "\n", to: STDOUT_FILENO) }

  /// Writes the JSON answer on one line.
  func json(_ value: JSONValue) throws { try Self.write(value.text + "\n", to: STDOUT_FILENO) }

  /// Reports success: in words on standard error, or as the JSON answer.
  func done(_ text: String, _ value: @autoclosure () -> JSONValue) throws {
    if isJSON { return try json(value()) }
    note(text)
  }

  /// Writes a note that is not part of the answer.
  func note(_ text: String) {
    guard !isQuiet, !isJSON else { return }
    Self.complain(text)
  }

  /// Notes folders that the command created, since one of them may come from a mistyped path.
  func note(ofNew folders: [String]) {
    for folder in folders { note("\(folder) did not exist, and was created") }
  }

  /// Warns of a problem, even with `--quiet`.
  func warn(_ status: ExitStatus, _ text: String) { Self.warn(Failure(status, text), isJSON) }

  /// Warns of an error that did not end the command.
  static func warn(_ failure: Failure, _ isJSON: Bool) {
    guard isJSON else { return complain("warning: \(failure.line)") }
    let warning = ["warning": failure.json["error"]] as JSONValue
    do { try write(warning.text + "\n", to: STDERR_FILENO) } catch {}
  }

  /// Writes a line to standard error; a failed write is ignored.
  static func complain(_ text: String) {
    do { try write("securestore: \(Printable.line(text))\n", to: STDERR_FILENO) } catch {}
  }

  /// Writes bytes of the answer unchanged.
  static func write(_ bytes: [UInt8]) throws { try write(bytes, to: STDOUT_FILENO) }

  /// Writes text of the answer unchanged.
  static func write(_ text: String) throws { try write(text, to: STDOUT_FILENO) }

  static func write(_ text: String, to descriptor: Int32) throws {
    try write(Array(text.utf8), to: descriptor)
  }

  static func write(_ bytes: [UInt8], to descriptor: Int32, path: String? = nil) throws {
    try unsafe bytes.withUnsafeBytes { try unsafe write($0, to: descriptor, path: path) }
  }

  static func write(
    _ bytes: UnsafeRawBufferPointer, to descriptor: Int32, path: String?
  ) throws {
    var done = 0
    while done < bytes.count {
      let count = unsafe Glibc.write(descriptor, bytes.baseAddress! + done, bytes.count - done)
      if count < 0 && errno == EINTR { continue }
      guard count >= 0 else { throw Failure(system: "write", path: path, number: errno) }
      done += count
    }
  }
}
