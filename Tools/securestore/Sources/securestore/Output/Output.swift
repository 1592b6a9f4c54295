internal import Glibc

/// Standard output and standard error, with every write checked.
struct Output {
  let isJSON: Bool
  let isQuiet: Bool

  static var isTerminal: Bool { isatty(STDOUT_FILENO) == 1 }
  static var isErrorTerminal: Bool { isatty(STDERR_FILENO) == 1 }

  /// Writes a line of the answer.
  func line(_ text: String) throws { try Self.write(text + "\n", to: STDOUT_FILENO) }

  /// Writes the answer for programs, as one line.
  func json(_ value: JSONValue) throws { try Self.write(value.text + "\n", to: STDOUT_FILENO) }

  /// Says what was done: in words on standard error, or as the answer for programs.
  func done(_ text: String, _ value: @autoclosure () -> JSONValue) throws {
    if isJSON { return try json(value()) }
    note(text)
  }

  /// Tells people something that is no part of the answer.
  func note(_ text: String) {
    guard !isQuiet, !isJSON else { return }
    Self.complain(text)
  }

  /// Tells of folders that were made on the way, one of which may be a mistyped one.
  func note(ofNew folders: [String]) {
    for folder in folders { note("\(folder) was not there, and was made") }
  }

  /// Tells of what is not as it should be, also whoever wants to hear nothing else.
  func warn(_ status: ExitStatus, _ text: String) { Self.warn(Failure(status, text), isJSON) }

  /// The same of an error that did not end the command.
  static func warn(_ failure: Failure, _ isJSON: Bool) {
    guard isJSON else { return complain("warning: \(failure.line)") }
    let warning = JSONValue.object([("warning", failure.json["error"] ?? .null)])
    do { try write(warning.text + "\n", to: STDERR_FILENO) } catch {}
  }

  /// Says something on standard error, where it can be said.
  static func complain(_ text: String) {
    do { try write("securestore: \(Printable.line(text))\n", to: STDERR_FILENO) } catch {}
  }

  /// Writes bytes of the answer as they are.
  static func write(_ bytes: [UInt8]) throws { try write(bytes, to: STDOUT_FILENO) }

  /// Writes text of the answer as it is.
  static func write(_ text: String) throws { try write(text, to: STDOUT_FILENO) }

  static func write(_ text: String, to descriptor: Int32) throws {
    try write(Array(text.utf8), to: descriptor)
  }

  static func write(_ bytes: [UInt8], to descriptor: Int32, path: String? = nil) throws {
    var done = 0
    while done < bytes.count {
      let count = unsafe bytes.withUnsafeBytes { buffer in
        unsafe Glibc.write(descriptor, buffer.baseAddress! + done, buffer.count - done)
      }
      if count < 0 && errno == EINTR { continue }
      guard count >= 0 else { throw Failure(system: "write", path: path, number: errno) }
      done += count
    }
  }
}
