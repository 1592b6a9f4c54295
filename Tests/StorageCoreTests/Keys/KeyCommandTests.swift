import CryptoCore
import Foundation
import StorageCore
import StorageTesting
import TestSupport
import Testing

/// A key from a program: real programs, what they print, and how they fail.
@Suite struct KeyCommandTests {
  static let key = Data([UInt8](repeating: 3, count: 32)).base64EncodedString()

  static func shell(_ script: String, name: String = "", timeout: Duration? = .seconds(60))
    -> KeySource
  {
    .command(["sh", "-c", script], name: name, timeout: timeout, derivation: .quick)
  }

  /// Each form that a key file may have, and the source that holds the same.
  static let forms: [(script: String, same: KeySource)] = [
    ("echo \(key)", .key(.repeating(3))),
    ("printf %s \(key)", .key(.repeating(3))),
    ("printf '\\3%.0s' $(seq 32)", .key(.repeating(3))),
    ("echo correct horse", .passphrase("correct horse", derivation: .quick)),
    ("printf 'correct horse\\n\\n'", .passphrase("correct horse\n", derivation: .quick)),
    ("echo correct; echo horse", .passphrase("correct\nhorse", derivation: .quick)),
  ]

  @Test(arguments: forms)
  func whatItPrintsIsReadAsAKeyFileIs(script: String, same: KeySource) throws {
    let delegate = OpenDelegate()
    try DelegatedStorage.quiet(delegate, same).save(7, forKey: "k")
    let keys = DelegatedStorage.quiet(delegate, same).keyAdministration
    try keys.add(Self.shell(script, name: "token"))
    #expect(try keys.slots().map(\.identifier) == ["", "token"])
    #expect(try keys.slots().last?.kind == "command")
    let opened = DelegatedStorage.quiet(delegate, Self.shell(script, name: "token"))
    #expect(try opened.load(forKey: "k") == 7)
    // The command may change, the name may not.
    let changed = DelegatedStorage.quiet(delegate, Self.shell("true; " + script, name: "token"))
    #expect(try changed.load(forKey: "k") == 7)
    let renamed = DelegatedStorage.quiet(delegate, Self.shell(script, name: "other"))
    #expect(code { _ = try renamed.load(Int.self, forKey: "k") } == .keyUnavailable)
  }

  /// Commands that fail, the error's code and a part of its text.
  ///
  /// A failure has one error, which names the program and nothing that it printed.
  static let failures: [(arguments: [String], expected: StorageError.Code, part: String)] = [
    (["sh", "-c", "echo SECRET; exit 3"], .keyUnavailable, "exit code 3"),
    (["sh", "-c", "echo SECRET; kill -TERM $$"], .keyUnavailable, "signal 15"),
    (["sh", "-c", "exit 0"], .damaged, "printed nothing"),
    (["sh", "-c", "echo hidden >/dev/null"], .damaged, "printed nothing"),
    (["sh", "-c", "echo"], .damaged, "empty"),
    (["head", "-c", "10000000", "/dev/zero"], .damaged, "more than 4096 bytes"),
    (["sh", "-c", "yes SECRET | head -c 4097"], .damaged, "more than 4096 bytes"),
    (["/nowhere/SECRET-store/program"], .keyUnavailable, "does not exist"),
    (["no-such-program"], .keyUnavailable, "not found in /usr/local/sbin"),
    (["/usr"], .denied, "can't be executed"),
    (["/proc/version"], .denied, "can't be executed"),
    (["bin/true"], .invalid, "relative path"),
    ([], .invalid, "needs a program"),
    ([""], .invalid, "needs a program"),
    (["sh", "-c", "echo a\0b"], .invalid, "NUL"),
  ]

  @Test(arguments: failures)
  func eachFailureHasOneError(
    arguments: [String], expected: StorageError.Code, part: String
  ) throws {
    let delegate = OpenDelegate()
    let source = KeySource.command(arguments, timeout: .seconds(60), derivation: .quick)
    let failure = try #require(error { try DelegatedStorage.quiet(delegate, source).open() })
    #expect(failure.code == expected)
    #expect(failure.message.contains(part), "\(failure)")
    if let program = arguments.first, !program.isEmpty {
      #expect(failure.message.contains(program))
    }
    if arguments.count > 1 { #expect(!"\(failure)".contains("SECRET")) }
    #expect(!"\(source)".contains("SECRET"))
    // Nothing was made under a key that nobody has.
    #expect(try delegate.header().header == nil)
  }

  @Test func aProgramThatHangsIsEndedWithItsChildren() throws {
    let folder = try TemporaryFolder()
    let mark = folder.path + "/running"
    let script = "sleep 1000 & echo $! > \(mark); echo $$ >> \(mark); wait"
    let source = Self.shell(script, timeout: .milliseconds(500))
    let failure = try #require(error { try DelegatedStorage.quiet(OpenDelegate(), source).open() })
    #expect(failure.code == .timedOut)
    for process in try String(contentsOfFile: mark, encoding: .utf8).split(separator: "\n") {
      #expect(try hasEnded(process), "process \(process) is left")
    }
  }

  @Test func aChildThatKeepsTheOutputOpenIsNotWaitedFor() throws {
    let folder = try TemporaryFolder()
    let mark = folder.path + "/child"
    let script = "sleep 1000 & echo $! > \(mark); echo \(Self.key)"
    let storage = DelegatedStorage.quiet(OpenDelegate(), Self.shell(script))
    try storage.save(1, forKey: "k")
    let child = try String(contentsOfFile: mark, encoding: .utf8).split(separator: "\n")[0]
    #expect(try hasEnded(child))
  }

  @Test func theProgramInheritsTheThreeStandardDescriptorsAlone() throws {
    let kept = FileHandle(forReadingAtPath: "/dev/null")
    defer { kept?.closeFile() }
    // The fourth is the folder that ls reads.
    let list = try KeyCommand(["ls", "/proc/self/fd"]).output()
    #expect(list == (try SecureBytes(Array("0\n1\n2\n3\n".utf8))))
    let input = try KeyCommand(["readlink", "/proc/self/fd/0"]).output()
    #expect(input == (try SecureBytes(Array("/dev/null\n".utf8))))
  }

  @Test func itIsAskedOnceAndAgainWhenItsAnswerOpensNothing() throws {
    let folder = try TemporaryFolder()
    try folder.write(Self.key, to: "key")
    let script = "echo x >> \(folder.path)/runs; cat \(folder.path)/key"
    func runs() throws -> Int {
      try String(contentsOfFile: folder.path + "/runs", encoding: .utf8).count / 2
    }
    let source = Self.shell(script, name: "token")
    let delegates = [OpenDelegate(), OpenDelegate()]
    for delegate in delegates {
      try DelegatedStorage.quiet(delegate, source).save(7, forKey: "k")
      #expect(try DelegatedStorage.quiet(delegate, source).load(forKey: "k") == 7)
    }
    // A new store asks twice, so that a program whose answers differ makes none.
    #expect(try runs() == 3)

    // Another process replaces the key: the kept answer opens nothing, so the program is asked again.
    let other = Data([UInt8](repeating: 4, count: 32)).base64EncodedString()
    let former = Self.shell("echo \(Self.key)", name: "token")
    _ = try DelegatedStorage.quiet(delegates[0], former).keyAdministration
      .rotate(openedBy: Self.shell("echo \(other)", name: "token"))
    try folder.write(other, to: "key")
    #expect(try DelegatedStorage.quiet(delegates[0], source).load(forKey: "k") == 7)
    #expect(try runs() == 4)
  }

  @Test func whatPrintsSomethingElseEachTimeMakesNoSlot() throws {
    let delegate = OpenDelegate()
    let random = KeySource.command(["head", "-c", "32", "/dev/urandom"])
    let failure = error { try DelegatedStorage.quiet(delegate, random).save(1, forKey: "k") }
    #expect(failure?.code == .invalid)
    #expect(failure?.message.contains("something else each time") == true)
    #expect(try delegate.header().header == nil)
  }

  @Test func aNewSlotIsOfWhatTheProgramPrintsNow() throws {
    let folder = try TemporaryFolder()
    try folder.write(Self.key, to: "key")
    let source = Self.shell("cat \(folder.path)/key", name: "token")
    try DelegatedStorage.quiet(OpenDelegate(), source).save(1, forKey: "k")
    // The source has kept the former answer.
    try folder.write(Data([UInt8](repeating: 4, count: 32)).base64EncodedString(), to: "key")
    let delegate = OpenDelegate()
    try DelegatedStorage.quiet(delegate, source).save(2, forKey: "k")
    let anew = Self.shell("cat \(folder.path)/key", name: "token")
    #expect(try DelegatedStorage.quiet(delegate, anew).load(forKey: "k") == 2)
  }

  @Test func threadsThatNeedItAtOnceRunItOnce() throws {
    let folder = try TemporaryFolder()
    let key = SymmetricKey.repeating(3)
    let delegates = (0..<8).map { _ in OpenDelegate() }
    for delegate in delegates {
      try DelegatedStorage.quiet(delegate, .key(key)).save(1, forKey: "k")
      try DelegatedStorage.quiet(delegate, .key(key)).keyAdministration
        .add(Self.shell("echo \(Self.key)"))
    }
    let source = Self.shell("echo x >> \(folder.path)/runs; sleep 0.2; echo \(Self.key)")
    DispatchQueue.concurrentPerform(iterations: delegates.count) { number in
      #expect(throws: Never.self) {
        try DelegatedStorage.quiet(delegates[number], source).load(Int.self, forKey: "k")
      }
    }
    #expect(try String(contentsOfFile: folder.path + "/runs", encoding: .utf8) == "x\n")
  }

  /// A program that stops itself, as one does that ^Z is typed at.
  @Test func aProgramThatStopsIsEnded() throws {
    let source = Self.shell("kill -TSTP $$; echo \(Self.key)")
    let failure = error { try DelegatedStorage.quiet(OpenDelegate(), source).open() }
    #expect(failure?.code == .keyUnavailable)
    #expect(failure?.message.contains("stopped by signal 20") == true)
  }

  static let lines: [(script: String, line: String)] = [
    ("echo hunter2", "hunter2"), ("printf hunter2", "hunter2"),
    ("printf 'hunter2\\nuser: me\\n'", "hunter2"), ("printf 'hunter2\\r\\nx'", "hunter2"),
    ("printf 'hunter2\\r'", "hunter2\r"),
  ]

  @Test(arguments: lines)
  func ofASecretTheFirstLineIsRead(script: String, line: String) throws {
    #expect(try KeyCommand(["sh", "-c", script]).line() == SecureBytes(Array(line.utf8)))
  }

  @Test(arguments: ["echo; echo hunter2", "printf '\\r\\n'"])
  func anEmptyFirstLineIsAnError(script: String) {
    let failure = error { _ = try KeyCommand(["sh", "-c", script]).line() }
    #expect(failure?.code == .damaged)
  }

  /// A service whose standard streams are closed: what it prints itself gets into no key.
  @Test func closedStandardStreamsChangeNothing() async {
    await #expect(processExitsWith: .success) {
      for number in 0...2 { close(Int32(number)) }
      let ends = try KeyCommand(["sh", "-c", "echo said >&2; ls /proc/self/fd"]).output()
      guard ends == (try SecureBytes(Array("0\n1\n2\n3\n".utf8))) else { exit(1) }
    }
  }

  /// Without PATH and HOME, in a process of its own.
  @Test func theLookUpDoesNotFollowThePath() async {
    await #expect(processExitsWith: .success) {
      let folder = try TemporaryFolder()
      try folder.write("#!/bin/sh\necho a planted passphrase\n", to: "printf", permissions: 0o700)
      for path in [folder.path, ""] {
        FileCalls.setVariable("PATH", path)
        FileCalls.setVariable("HOME", "")
        let delegate = OpenDelegate()
        let source = KeySource.command(["printf", "%s", KeyCommandTests.key])
        try DelegatedStorage.quiet(delegate, source).save(1, forKey: "k")
        let same = KeySource.command(["echo", KeyCommandTests.key])
        #expect(try DelegatedStorage.quiet(delegate, same).load(forKey: "k") == 1)
      }
    }
  }

  @Test func aProcessThatIgnoresItsChildrenIsToldSo() async {
    await #expect(processExitsWith: .success) {
      signal(SIGCHLD, SIG_IGN)
      let source = KeyCommandTests.shell("echo \(KeyCommandTests.key)")
      let failure = error { try DelegatedStorage.quiet(OpenDelegate(), source).open() }
      #expect(failure?.code == .keyUnavailable)
      #expect(failure?.message.contains("SIGCHLD") == true)
    }
  }

  /// Whether a process is gone or a zombie that nobody has reaped yet.
  private func hasEnded(_ process: Substring) throws -> Bool {
    let path = "/proc/\(process)/stat"
    for _ in 0..<6_000 {
      guard let status = try? String(contentsOfFile: path, encoding: .utf8) else { return true }
      if status.split(separator: ")").last?.hasPrefix(" Z") == true { return true }
      usleep(10_000)
    }
    return false
  }
}
