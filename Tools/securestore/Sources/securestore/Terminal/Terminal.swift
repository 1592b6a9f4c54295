internal import CProcess
internal import CryptoCore
internal import Glibc

/// The controlling terminal, for questions: standard input may be a pipe.
struct Terminal: ~Copyable {
  /// The terminal cuts lines at this length: termios(3), canonical mode.
  private static let lineLimit = 4095

  private let descriptor: Int32

  /// Opens the terminal.
  ///
  /// - Throws: `Failure` that says what to use instead of a prompt.
  init(for question: String, instead: String) throws {
    descriptor = unsafe open("/dev/tty", O_RDWR | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw Failure(.usage, "there is no terminal to ask for \(question); use \(instead)")
    }
  }

  deinit { close(descriptor) }

  /// Asks for a line without echo.
  func askSecret(_ prompt: String) throws -> SecureBytes {
    while true {
      switch try ask(prompt, isShown: false) {
      case .line(let line): return line
      case .signal(let number):
        // The old handlers and the echo are restored, so the signal may now end or stop this
        // process.
        raise(number)
        guard number == SIGTSTP else {
          throw Failure(.cancelled, "interrupted")  // a handler of the caller took the signal
        }
      }
    }
  }

  /// Asks for a new secret, twice.
  func askNewSecret(_ name: String) throws -> SecureBytes {
    for _ in 0..<3 {
      let secret = try askSecret("New \(name): ")
      guard secret.count > 0 else {
        throw Failure(.cancelled, "no \(name) was given; nothing was changed")
      }
      if try askSecret("The same again: ") == secret { return secret }
      try Output.write("They differ. Once more.\n", to: descriptor)
    }
    throw Failure(.cancelled, "the two differed three times; nothing was changed")
  }

  /// Shows a line.
  func show(_ text: String) throws {
    try Output.write(Printable.line(text) + "\n", to: descriptor)
  }

  /// Whether the answer to a question is yes.
  func confirm(_ question: String) throws -> Bool {
    guard case .line(let line) = try ask("\(question) [y/N] ", isShown: true) else { return false }
    return ["y", "yes"].contains((line.text ?? "").lowercased())
  }

  /// Returns if the operator agrees to what a command is about to do with `path`.
  ///
  /// - Parameters:
  ///   - question: the question.
  ///   - path: the store, for errors.
  ///   - lines: what is shown before the question.
  ///   - plan: what would be done, for the error if there is no terminal.
  /// - Throws: `Failure`: `usage` if there is no terminal to ask on, `cancelled` if the answer is no.
  static func requireConsent(
    _ question: String, _ path: String?, showing lines: [String] = [], otherwise plan: String? = nil
  ) throws {
    let terminal: Terminal
    do {
      terminal = try Terminal(for: "a confirmation", instead: "--yes")
    } catch {
      guard let plan else { throw error }
      throw Failure(
        .usage,
        "nothing was changed: \(plan). There is no terminal to ask on; give --yes to confirm it",
        path: path)
    }
    for line in lines { try terminal.show(line) }
    guard try terminal.confirm(question) else {
      throw Failure(.cancelled, "nothing was changed", path: path)
    }
  }

  private enum Answer {
    case line(SecureBytes)
    case signal(Int32)
  }

  private func ask(_ prompt: String, isShown: Bool) throws -> Answer {
    if isShown {
      try Output.write(Printable.line(prompt), to: descriptor)
      return .line(try SecretInput.line(of: descriptor))
    }
    var old = termios()
    guard unsafe tcgetattr(descriptor, &old) == 0 else {
      throw Failure(system: "ask the terminal for its settings", path: nil, number: errno)
    }
    let signals = CaughtSignals()
    var silent = old
    silent.c_lflag &= ~tcflag_t(ECHO | ECHONL)
    silent.c_lflag |= tcflag_t(ICANON | ISIG)
    guard unsafe tcsetattr(descriptor, TCSAFLUSH, &silent) == 0 else {
      throw Failure(system: "turn the terminal's echo off", path: nil, number: errno)
    }
    defer {
      unsafe tcsetattr(descriptor, TCSAFLUSH, &old)
      // The line break that was typed was not shown.
      do { try Output.write("\n", to: descriptor) } catch {}
    }
    try Output.write(Printable.line(prompt), to: descriptor)
    return try answer(signals)
  }

  private func answer(_ signals: borrowing CaughtSignals) throws -> Answer {
    var count = 0
    var signal: Int32?
    let line = try unsafe SecretInput.secret(count: Self.lineLimit + 1) { buffer in
      while count <= Self.lineLimit {
        let isReadable = process_wait_readable(descriptor)
        if let number = signals.take() {
          signal = number
          return
        }
        guard isReadable >= 0 else {
          throw Failure(system: "wait for the terminal", path: nil, number: -isReadable)
        }
        guard isReadable == 1 else { continue }
        let step = unsafe read(
          descriptor, buffer.baseAddress! + count, buffer.count - count)
        if step < 0 && (errno == EINTR || errno == EAGAIN) { continue }
        guard step >= 0 else { throw Failure(system: "read", path: "/dev/tty", number: errno) }
        count += step
        let isDone = unsafe step == 0 || buffer[count - 1] == UInt8(ascii: "\n")
        if isDone { return }
      }
    }
    if let signal { return .signal(signal) }
    guard count < Self.lineLimit else {
      throw Failure(.usage, "the line is too long for a terminal; use a file or a pipe")
    }
    guard count > 0 else { throw Failure(.cancelled, "no answer was given; nothing was changed") }
    let typed = try line.prefix(count)
    return .line(try typed.withoutLineBreak())
  }
}
