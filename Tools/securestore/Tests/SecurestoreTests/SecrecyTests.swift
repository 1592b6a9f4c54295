import Foundation
import Testing

/// Where secrets must not be.
struct SecrecyTests {
  private static let secret = "hunter2-Tr0ub4dor"

  @Test func noCommandShowsAValueThatWasNotAskedFor() throws {
    let tool = try Tool()
    try tool.write("IMPORTED=\(Self.secret)-2\n", to: "app.env")
    let set = try tool.run("set", "NAME", input: Self.secret)
    var said = set.text + set.errors
    for arguments in [
      ["import", "app.env"], ["list"], ["list", "--long", "--json"], ["verify"], ["rotate"],
      ["slots"], ["doctor"], ["doctor", "--json"], ["backup", "copy"], ["compact"],
      ["export", "--to", "out.env"], ["restore", "copy", "--yes"], ["remove", "NAME"],
    ] {
      let result = try tool.run(arguments)
      #expect(result.code == 0, "\(arguments): \(result.errors)")
      said += result.text + result.errors
    }
    #expect(!said.contains(Self.secret))
    for file in [tool.vault, tool.path("copy")] {
      let bytes = try Data(contentsOf: URL(fileURLWithPath: file))
      #expect(bytes.range(of: Data(Self.secret.utf8)) == nil)
      #expect(bytes.range(of: Data("IMPORTED".utf8)) == nil)
    }
  }

  @Test func aValueInAnArgumentIsRefusedAndNotRepeated() throws {
    let tool = try Tool()
    for arguments in [["set", "NAME", Self.secret], ["set", "NAME", "--json", Self.secret]] {
      let result = try tool.run(arguments)
      #expect(result.code == 64)
      #expect(!(result.text + result.errors).contains(Self.secret))
    }
    #expect(try tool.run("list").text == "")
  }

  @Test(arguments: [[], ["--json"]])
  func whatIsTypedInAWrongPlaceIsNotRepeated(_ more: [String]) throws {
    let tool = try Tool()
    let wrong = [
      ["get", "NAME", "hunter2 secret"], ["get", "NAME", "hunter2", "hunter2 too"],
      ["list", "--passphrase=hunter2"], ["set", "NAME", "--type", "hunter2"], ["hunter2"],
      ["rotate", "--names", "hunter2"],
    ]
    for arguments in wrong {
      let result = try tool.run(arguments + more)
      #expect(result.code == 64, "\(arguments)")
      #expect(!(result.errors + result.text).contains("hunter2"), "\(result.errors)")
      #expect(!result.errors.isEmpty)
    }
  }

  @Test func theProcessLeavesNoCoreAndLetsNobodyLookAtItsMemory() throws {
    let tool = try Tool()
    // It waits for its input, so that it can be looked at; then it is made to crash.
    let result = try tool.shell(
      #"""
      ulimit -c unlimited
      mkfifo pipe
      "$0" set NAME <pipe &
      exec 3>pipe
      printf hunter2 >&3
      while ! grep -q '^Max core file size *0 *0 ' /proc/$!/limits; do sleep 0.01; done
      kill -ABRT $!
      wait $!
      echo "code $?"
      ls
      """#)
    #expect(result.lines.first == "code 134")
    #expect(!result.errors.contains("core dumped"))
    // The Swift runtime's own report of a crash shows what registers point to.
    #expect(!result.errors.contains("rdi"))
    #expect(!result.errors.contains("crashed:"))
    #expect(!result.lines.contains { $0.hasPrefix("core") })
    let list = try tool.run("list")
    #expect(list.text == "")
  }

  /// PR_SET_DUMPABLE, which is more than no core: prctl(2), and ptrace(2), "access mode checking".
  @Test func noOtherProcessOfTheSameUserLooksIntoIt() throws {
    let tool = try Tool()
    // Who has all capabilities, as root, may look into everything: here they are given up.
    let result = try tool.shell(
      #"""
      if [[ $(id -u) == 0 && -z ${dropped:-} ]]; then
        export dropped=yes
        exec setpriv --bounding-set -all --inh-caps -all bash -c "$BASH_EXECUTION_STRING" "$0"
      fi
      mkfifo pipe
      sleep 600 &
      other=$!
      "$0" set NAME <pipe &
      tool=$!
      exec 3>pipe
      printf hunter2 >&3
      is_open() { { head -c 0 <"/proc/$1"; } 2>/dev/null; }
      # Until it has begun: before, it is this shell.
      for _ in {1..1200}; do
        is_open $tool/environ || break
        sleep 0.05
      done
      # The memory of another may be closed to all but its parents, by Yama: proc(5).
      for file in $other/environ $other/maps $tool/environ $tool/maps $tool/mem; do
        if is_open "$file"; then echo open; else echo closed; fi
      done
      kill $other
      exec 3>&-
      wait $tool
      echo "code $?"
      """#)
    #expect(
      result.lines == ["open", "open", "closed", "closed", "closed", "code 0"],
      "\(result.errors)")
  }

  @Test func errorsAreOneLineWhateverIsInAName() throws {
    let tool = try Tool()
    let result = try tool.run("get", "a\nb\u{1B}[31m")
    #expect(result.code == 1)
    #expect(result.errors.split(separator: "\n").count == 1)
    #expect(!result.errors.contains("\u{1B}"))
  }

  @Test func aSecretInThePlaceOfAKeysNameIsNotRepeated() throws {
    let tool = try Tool()
    for option in ["--key-env", "--credential"] {
      for more in [["hunter2 secret"], ["hunter2_secret", "--json"]] {
        let result = try tool.run(["list", option] + more)
        #expect(result.code == 10)
        #expect(result.errors.contains("the vault opens with file master.key, not with that"))
        #expect(!(result.errors + result.text).contains("hunter2"), "\(result.errors)")
      }
    }
  }
}
