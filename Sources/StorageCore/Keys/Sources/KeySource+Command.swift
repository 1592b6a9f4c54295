public import CryptoCore
internal import Glibc

extension KeySource {
  /// What a program prints: a key or a passphrase.
  ///
  /// So a key can come from wherever a program gets it: a TPM by `systemd-creds`, a hardware token by
  /// `age`, a password manager, a cloud's key service.
  ///
  /// ```swift
  /// .command(["age", "--decrypt", "-i", "/home/me/.age/identity", "/home/me/.config/tool/key.age"])
  /// ```
  ///
  /// The program runs without a shell, with this process's environment, working folder and standard error, and
  /// gets the terminal if it wants to ask there, for a PIN. It inherits no other descriptor; its standard
  /// input is `/dev/null`. What it prints goes into memory that is wiped and is read as a key file is: 32 bytes
  /// that are no text, standard Base64 of 32 bytes, or else a passphrase, without one line break at the
  /// end; at most 4,096 bytes. The command itself is visible to other processes, so it holds no secret.
  ///
  /// The program is asked once, and again if what it printed did not open the store; a failure holds for a
  /// second. For a new slot it is asked twice: what it prints must be the same. When it has ended, or
  /// its time is over, the processes of its group end, too. Only these errors can come, each of which names
  /// the program and nothing that it printed: `keyUnavailable` if it does not exist, ends with another exit
  /// code than 0 or by a signal; `denied` if it can't be executed; `timedOut` if it takes too long;
  /// `damaged` if it prints nothing or too much; `cancelled` if the task is, or this process is asked to end;
  /// `invalid` if the arguments are none, or hold a relative path as the program or a NUL character, or if it
  /// prints something else each time.
  ///
  /// - Parameters:
  ///   - arguments: the program and its arguments. A name without a slash is looked up in `/usr/local/sbin`,
  ///     `/usr/local/bin`, `/usr/sbin`, `/usr/bin`, `/sbin` and `/bin`, whatever `PATH` says.
  ///   - name: tells commands of one store apart, and is stored unencrypted in the slot. The command may
  ///     change later, the name may not.
  ///   - timeout: how long the program may take; nil means 30 s, or 2 minutes where this process has the
  ///     terminal, since somebody may have to type.
  ///   - derivation: how a passphrase is stretched when a slot is made for it.
  /// - Returns: the source.
  public static func command(
    _ arguments: [String], name: String = "", timeout: Duration? = nil,
    derivation: PassphraseDerivation = .standard
  ) -> KeySource {
    let command = KeyCommand(arguments, timeout: timeout)
    let kept = KeptAnswer(command)
    var candidate = Candidate(
      kind: .command, identifier: name, derivation: derivation,
      read: { () throws(StorageError) in try kept.material() })
    candidate.readAgain = { () throws(StorageError) in try kept.materialAgain() }
    candidate.readForNewSlot = { () throws(StorageError) in try kept.materialForNewSlot() }
    candidate.isOfProgram = true
    return KeySource([candidate])
  }
}

/// What a command has printed, so that it is asked once; a failure holds for a second.
private final class KeptAnswer: Sendable {
  private struct State {
    var material: KeyMaterial?
    /// Whether the material was used before.
    var isOld = false
    /// The last failure, and until when the command is not asked again.
    var failure: (error: StorageError, end: MonotonicTime)?
  }
  private let command: KeyCommand
  private let state = Lock(State())
  /// Held by the thread that runs the command: a person who is asked twice at once answers neither.
  private let turn = Lock(())

  init(_ command: KeyCommand) { self.command = command }

  func material() throws(StorageError) -> KeyMaterial {
    try inTurn { () throws(StorageError) in
      let kept = state.withLock { state in
        state.isOld = state.material != nil
        return state
      }
      if let material = kept.material { return material }
      if let failure = kept.failure, failure.end.since(.now) > 0 { throw failure.error }
      return try ask()
    }
  }

  /// Runs the command again; nil if what it has printed was not used before.
  func materialAgain() throws(StorageError) -> KeyMaterial? {
    try inTurn { () throws(StorageError) in
      let isOld = state.withLock { state in
        // What was printed just now may open another store.
        if state.isOld { state.material = nil }
        return state.isOld
      }
      return isOld ? try ask() : nil
    }
  }

  /// What the command prints now, and printed before, too.
  ///
  /// A kept answer may be older than what the command prints in the next process, and what differs each time
  /// would never open anything.
  func materialForNewSlot() throws(StorageError) -> KeyMaterial {
    var last = try material()
    return try inTurn { () throws(StorageError) in
      for _ in 0..<2 {
        let material = try ask()
        if material.isSame(as: last) { return material }
        last = material
      }
      state.withLock { $0 = State() }
      throw StorageError(
        .invalid,
        "\(command.title) prints something else each time, which would open nothing later; let it print a key "
          + "that is stored")
    }
  }

  private func inTurn<Result>(
    _ body: () throws(StorageError) -> Result
  ) throws(StorageError) -> Result {
    let check = { () throws(StorageError) in
      guard Cancellation.current?.isCancelled == true else { return }
      throw StorageError(.cancelled, "the task was cancelled while \(self.command.title) ran")
    }
    return try turn.withLock(waiting: check) { (_) throws(StorageError) in try body() }
  }

  private func ask() throws(StorageError) -> KeyMaterial {
    do throws(StorageError) {
      let material = try command.material()
      state.withLock { $0 = State(material: material) }
      return material
    } catch {
      state.withLock { $0 = State(failure: (error, .now.later(by: .seconds(1)))) }
      throw error
    }
  }
}

extension KeyMaterial {
  /// Whether both are the same key, or the same passphrase.
  fileprivate func isSame(as other: KeyMaterial) -> Bool {
    switch (self, other) {
    case (.key(let mine), .key(let its)): mine == its
    case (.passphrase(let mine), .passphrase(let its)): mine == its
    default: false
    }
  }
}

/// A program that prints a secret, which it is run for each time.
///
/// ``KeySource/command(_:name:timeout:derivation:)`` says how it runs and what its errors are. This is for
/// secrets that are no source of a store's own, such as a passcode or a recovery key:
///
/// ```swift
/// let paper = KeyCommand(["pass", "show", "tool/recovery-key"])
/// let source = KeySource.recovery(try RecoveryKey(text: paper.line()))
/// ```
public struct KeyCommand: Sendable {
  /// The program and its arguments.
  let arguments: [String]
  /// How long the program may take; nil for the usual time.
  let timeout: Duration?

  /// A command; it is checked when it runs.
  ///
  /// - Parameters:
  ///   - arguments: the program and its arguments.
  ///   - timeout: how long the program may take; nil means 30 s, or 2 minutes where somebody may type.
  public init(_ arguments: [String], timeout: Duration? = nil) {
    self.arguments = arguments
    self.timeout = timeout
  }

  /// The largest output in bytes, that of a key file.
  static let limit = 4096
  /// Where a name without a slash is looked up.
  static let folders = [
    "/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin",
  ]

  /// Runs the program and reads what it prints as a key file is read.
  func material() throws(StorageError) -> KeyMaterial {
    let output = try output()
    return try KeyEncoding.material(of: output, path: nil, source: title)
  }

  /// Runs the program and returns the first line that it prints, without its end, LF or CR LF.
  ///
  /// - Throws: `damaged` if the line is empty, and the errors of ``KeySource/command(_:name:timeout:derivation:)``.
  public func line() throws(StorageError) -> SecureBytes {
    let output = try output()
    let count = output.withBytes { span in
      let line = unsafe span.withUnsafeBytes { unsafe $0.prefix { $0 != UInt8(ascii: "\n") } }
      return unsafe line.last == UInt8(ascii: "\r") && line.count < span.byteCount
        ? line.count - 1 : line.count
    }
    guard count > 0 else {
      throw StorageError(.damaged, "\(title) printed an empty line, where the secret is expected")
    }
    return try KeyEncoding.prefix(count, of: output)
  }

  /// Runs the program and returns what it prints, with its line breaks.
  ///
  /// - Throws: `damaged` if that is nothing, or more than 4,096 bytes; the other errors of the source.
  package func output() throws(StorageError) -> SecureBytes {
    let path = try program()
    var failure: StorageError?
    var count = 0
    let buffer = try cryptography { () throws(CryptoError) in
      // One byte more, to notice an output that is too long.
      try SecureBytes(count: Self.limit + 1) { (span) throws(CryptoError) in
        do throws(StorageError) {
          count = try CommandRun(path: path, arguments: arguments, title: title, timeout: timeout)
            .read(into: &span)
        } catch { failure = error }
      }
    }
    if let failure { throw failure }
    guard count > 0 else {
      throw StorageError(
        .damaged,
        "\(title) ended with exit code 0 and printed nothing on its standard output, where the key is "
          + "expected; run it by hand to see why")
    }
    return try KeyEncoding.prefix(count, of: buffer)
  }

  /// How errors name the program: without its arguments.
  var title: String { "the key command \(arguments.first ?? "")" }

  /// The path of the program.
  private func program() throws(StorageError) -> String {
    guard let name = arguments.first, !name.isEmpty else {
      throw StorageError(.invalid, "a key command needs a program and its arguments")
    }
    guard arguments.allSatisfy({ !$0.utf8.contains(0) }) else {
      throw StorageError(.invalid, "an argument of \(title) has a NUL character in it")
    }
    if name.hasPrefix("/") { return name }
    guard !name.contains("/") else {
      throw StorageError(
        .invalid, "\(title) is a relative path; give an absolute path, or a name without a slash")
    }
    for folder in Self.folders {
      let path = "\(folder)/\(name)"
      if let status = try FileStatus.of(path), status.isRegular, unsafe access(path, X_OK) == 0 {
        return path
      }
    }
    throw StorageError(
      .keyUnavailable,
      "\(title) was not found in \(Self.folders.joined(separator: ", ")); install it, or give its "
        + "absolute path")
  }
}

extension KeyCommand: RedactedDescription {
  /// The program, and none of its arguments: they are the caller's.
  public var description: String { "KeyCommand(\(arguments.first ?? ""))" }
}
