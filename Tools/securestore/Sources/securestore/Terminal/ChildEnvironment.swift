internal import CProcess
internal import Foundation
internal import Glibc
internal import StorageCore

/// The environment of the program that replaces this one.
struct ChildEnvironment {
  /// A variable, its bytes, and the name of the value in it.
  struct Variable {
    fileprivate let name: String
    fileprivate let bytes: [UInt8]
    fileprivate let key: StoreKey

    init(_ name: String, _ bytes: [UInt8], of key: StoreKey) {
      self.name = name
      self.bytes = bytes
      self.key = key
    }
  }

  /// The longest variable, with name, sign and final zero: MAX_ARG_STRLEN of execve(2).
  private static let limit = 131_072

  /// The entries as NAME=value, as execve(2) takes them.
  private var entries: [[UInt8]] = []

  /// The environment of this process.
  ///
  /// - Parameter names: the variables to leave out.
  init(without names: Set<String>) {
    var index = 0
    while let entry = unsafe environ[index] {
      let bytes = unsafe [UInt8](UnsafeRawBufferPointer(start: entry, count: strlen(entry)))
      if !names.contains(String(decoding: Self.name(bytes), as: UTF8.self)) {
        entries.append(bytes)
      }
      index += 1
    }
  }

  private static func name(_ entry: [UInt8]) -> ArraySlice<UInt8> {
    entry.prefix { $0 != UInt8(ascii: "=") }
  }

  /// Adds variables; they replace those of the same name.
  ///
  /// - Throws: `Failure` for two values in one variable, and for a value that no variable can hold.
  mutating func add(_ variables: [Variable]) throws {
    var keys: [[UInt8]: StoreKey] = [:]
    for variable in variables {
      if let other = keys.updateValue(variable.key, forKey: Array(variable.name.utf8)) {
        throw Failure(
          .usage,
          "nothing was run: this value and the value \(other) would both go into the variable \(variable.name). "
            + "Select one with --only, or name another variable with --env VARIABLE=NAME",
          key: variable.key)
      }
      guard !variable.bytes.contains(0) else {
        throw Failure(
          .unsupported,
          "nothing was run: a variable can't hold a zero byte; pass the value in a descriptor, --fd "
            + "NUMBER=NAME", key: variable.key)
      }
      guard variable.name.utf8.count + variable.bytes.count + 2 <= Self.limit else {
        throw Failure(
          .unsupported,
          "nothing was run: a variable holds at most 128 KiB; pass the value in a descriptor, --fd "
            + "NUMBER=NAME", key: variable.key)
      }
    }
    entries.removeAll { keys[Array(Self.name($0))] != nil }
    entries += variables.map { Array($0.name.utf8) + [UInt8(ascii: "=")] + $0.bytes }
  }

  /// Replaces this process with a program.
  ///
  /// - Returns: the reason why it could not be run.
  func execute(_ command: [String]) -> Failure {
    let number = unsafe Self.withPointers(command.map { Array($0.utf8) }) { arguments in
      unsafe Self.withPointers(entries) { environment in
        unsafe process_execute(arguments[0]!, arguments, environment)
      }
    }
    switch number {
    case ENOENT, ENOTDIR:
      return Failure(
        .notFound, "there is no such program; check the name, and PATH",
        path: command[0])
    case E2BIG:
      return Failure(
        .notExecutable,
        "the arguments and variables together are too large; pass large values in descriptors, --fd "
          + "NUMBER=NAME", path: command[0])
    default:
      var failure = Failure(
        .notExecutable, "it can't be run: \(Failure.text(of: number))", path: command[0])
      failure.number = Int(number)
      return failure
    }
  }

  /// Runs a program and waits for its end.
  ///
  /// As with system(3), this process ignores SIGINT and SIGQUIT meanwhile: they are for the program.
  ///
  /// - Parameters:
  ///   - command: the path of the program, and its arguments.
  ///   - signals: the signals that are blocked in the program.
  /// - Returns: its exit status; 128 and the signal if a signal ended it.
  /// - Throws: `Failure` if it can't be run.
  func run(_ command: [String], signals: sigset_t) throws -> Int32 {
    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    var (defaults, mask) = (sigset_t(), signals)
    unsafe sigemptyset(&defaults)
    for number in [SIGINT, SIGQUIT, SIGPIPE, SIGXFSZ] { unsafe sigaddset(&defaults, number) }
    unsafe posix_spawnattr_setsigdefault(&attributes, &defaults)
    unsafe posix_spawnattr_setsigmask(&attributes, &mask)
    unsafe posix_spawnattr_setflags(
      &attributes, Int16(POSIX_SPAWN_SETSIGDEF) | Int16(POSIX_SPAWN_SETSIGMASK))
    let handlers = [SIGINT, SIGQUIT].map { ($0, signal($0, SIG_IGN)) }
    defer { for (number, handler) in handlers { signal(number, handler) } }
    var child: pid_t = 0
    let number = unsafe Self.withPointers(command.map { Array($0.utf8) }) { arguments in
      unsafe Self.withPointers(entries) { environment in
        unsafe posix_spawn(&child, command[0], nil, &attributes, arguments, environment)
      }
    }
    guard number == 0 else { throw Failure(system: "run", path: command[0], number: number) }
    var status: Int32 = 0
    while unsafe waitpid(child, &status, 0) < 0 {
      guard errno == EINTR else {
        throw Failure(system: "wait for", path: command[0], number: errno)
      }
    }
    let ending = status & 0x7F  // wait(2): WIFEXITED and the like are macros
    return ending == 0 ? status >> 8 & 0xFF : 128 + ending
  }

  private static func withPointers<Result>(
    _ texts: [[UInt8]], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Result
  ) -> Result {
    var pointers: [UnsafeMutablePointer<CChar>?] = unsafe texts.map { text in
      let copy = UnsafeMutablePointer<CChar>.allocate(capacity: text.count + 1)
      for (index, byte) in text.enumerated() { unsafe copy[index] = CChar(bitPattern: byte) }
      unsafe copy[text.count] = 0
      return unsafe copy
    }
    unsafe pointers.append(nil)
    defer { for index in texts.indices { unsafe pointers[index]?.deallocate() } }
    return unsafe pointers.withUnsafeMutableBufferPointer { unsafe body($0.baseAddress!) }
  }
}
