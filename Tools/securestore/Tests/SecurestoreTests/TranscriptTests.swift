import Foundation
import Testing

/// A session at a shell, and what the program answers in it: a part of a file of `Transcripts`.
///
/// It begins with a line `== Title`, with `(no vault)` at its end if the application has none yet. Its lines are:
///
/// - `$ command`: run by bash, in one shell for the whole session; `> ` continues the command.
/// - `? 64`: its exit code, if that is not 0.
/// - `! text`: its standard error has the text.
/// - `~ text`: its standard output has the text. Without such a line, standard output is what the lines without a mark
///   say, and nothing else.
/// - `- text`: neither has the text.
/// - `# text`: a comment.
///
/// `$HOME`, `$DATA`, `$VAULT` and `$KEY` are the tool's folder, the application's data, its vault and its key file.
struct Transcript: CustomTestStringConvertible, Sendable {
  struct Step: Sendable {
    var command: String
    var code: Int32 = 0
    var output: [String] = []
    var outputHas: [String] = []
    var errorsHave: [String] = []
    var neitherHas: [String] = []
  }

  let title: String
  private(set) var steps: [Step] = []
  var testDescription: String { title }

  /// All of them, in the order of their files.
  static let all: [Transcript] = {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("Transcripts").path
    do {
      return try FileManager.default.contentsOfDirectory(atPath: folder).sorted().flatMap { name in
        transcripts(try String(contentsOfFile: folder + "/" + name, encoding: .utf8))
      }
    } catch {
      fatalError("\(error)")
    }
  }()

  private static func transcripts(_ text: String) -> [Transcript] {
    var found: [Transcript] = []
    for line in text.split(separator: "\n") where !line.hasPrefix("#") {
      let (mark, rest) = (line.prefix(2), String(line.dropFirst(2)))
      if mark == "==" {
        found.append(Transcript(title: rest.trimmingCharacters(in: .whitespaces)))
        continue
      }
      var steps = found[found.count - 1].steps
      if mark == "$ " {
        steps.append(Step(command: rest))
      } else {
        steps[steps.count - 1].add(String(mark), rest, String(line))
      }
      found[found.count - 1].steps = steps
    }
    return found
  }
}

extension Transcript.Step {
  fileprivate mutating func add(_ mark: String, _ rest: String, _ line: String) {
    switch mark {
    case "> ": command += "\n" + rest
    case "? ": code = Int32(rest) ?? -1
    case "! ": errorsHave.append(rest)
    case "~ ": outputHas.append(rest)
    case "- ": neitherHas.append(rest)
    default: output.append(line)
    }
  }
}

/// What the program answers, session by session.
struct TranscriptTests {
  private static let prologue = """
    umask 077
    # The length of a page of the database in a file: https://sqlite.org/fileformat2.html#page_size
    page_size() { local a b; read -r a b < <(od -An -tu1 -j 16 -N 2 "$1"); echo $((a * 256 + b)); }
    # The vault with a value GOOD, and a value BIG that fills most pages and does not open any more.
    damaged_vault() {
      local page place byte
      printf x | securestore set GOOD; printf 'y%.0s' {1..100000} | securestore set BIG; securestore compact
      page=$(page_size "$VAULT"); place=$(($(stat -c %s "$VAULT") / page / 2 * page + 100))
      byte=$(od -An -tu1 -j $place -N 1 "$VAULT")
      printf "\\$(printf %o $((byte ^ 1)))" | dd of="$VAULT" bs=1 seek=$place conv=notrunc status=none
    }
    # Without a terminal to ask on.
    unasked() { setsid -w "$@" </dev/null; }
    # Without what root may do beyond what permissions allow.
    unprivileged() {
      if [[ $(id -u) == 0 ]]; then setpriv --bounding-set=-all --inh-caps=-all "$@"; else "$@"; fi
    }

    """

  @Test(arguments: Transcript.all)
  func theProgramAnswersAsItSays(_ transcript: Transcript) throws {
    let tool = try Tool(hasVault: !transcript.title.hasSuffix("(no vault)"))
    let results = tool.folder.path + ".results"
    try FileManager.default.createDirectory(
      atPath: results, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    defer { try? FileManager.default.removeItem(atPath: results) }
    let variables = [
      "HOME": tool.folder.path, "DATA": tool.data, "VAULT": tool.vault, "KEY": tool.keyFile,
    ]
    let program = (Tool.executable as NSString).deletingLastPathComponent
    tool.environment.merge(variables) { $1 }
    tool.environment.merge(["PATH": program + ":/usr/bin:/bin", "LC_ALL": "C.UTF-8"]) { $1 }
    let script = transcript.steps.enumerated().map { number, step in
      "{ \(step.command)\n} </dev/null >\(results)/\(number).out 2>\(results)/\(number).err; "
        + "echo $? >\(results)/\(number).code\n"
    }
    let shell = try tool.shell(Self.prologue + script.joined())
    func text(_ name: String) throws -> String {
      String(
        decoding: try Data(contentsOf: URL(fileURLWithPath: results + "/" + name)), as: UTF8.self)
    }
    func filled(_ text: String) -> String {
      variables.reduce(text) { $0.replacing("$" + $1.key, with: $1.value) }
    }
    for (number, step) in transcript.steps.enumerated() {
      let what: Comment = "\(step.command)\n\(shell.errors)"
      let output = try text("\(number).out")
      let errors = try text("\(number).err")
      #expect(try text("\(number).code") == "\(step.code)\n", "\(what)\(errors)")
      for has in step.errorsHave { #expect(errors.contains(filled(has)), what) }
      for has in step.outputHas { #expect(output.contains(filled(has)), what) }
      for not in step.neitherHas { #expect(!(output + errors).contains(filled(not)), what) }
      guard step.outputHas.isEmpty else { continue }
      let line = output.hasSuffix("\n") ? String(output.dropLast()) : output
      #expect(line == filled(step.output.joined(separator: "\n")), what)
    }
  }
}
