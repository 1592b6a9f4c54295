import Dispatch
import Glibc
import KeyringBackend

// A process of its own for the tests, in the environment of which the session bus is theirs.
// KeychainTestChild COMMAND SERVICE [ARGUMENT...]

let arguments = CommandLine.arguments
guard arguments.count >= 3 else { fatalError("usage: KeychainTestChild COMMAND SERVICE ...") }
// Nobody answers prompts, but for scripts/keyring-daemons.sh.
let prompts: KeyringAccess.PromptPolicy =
  unsafe getenv("SPS_SECRET_SERVICE_ADDRESS") == nil ? .never : .always
let storage = KeychainStorage(
  service: arguments[2], access: KeyringAccess(deadline: .seconds(300), prompts: prompts))

func say(_ line: String) {
  print(line)
  fflush(nil)
}

/// Says what `body` gives, or the code of its error.
func answer(_ body: () throws -> String) {
  do {
    say(try body())
  } catch let error as StorageError {
    say("error \(error.code)")
    let text = Array("KeychainTestChild: \(error)\n".utf8)
    _ = unsafe text.withUnsafeBytes { unsafe write(STDERR_FILENO, $0.baseAddress, $0.count) }
  } catch {
    say("error")
  }
}

switch arguments[1] {
case "load":
  answer { try storage.load(String.self, forKey: arguments[3]) ?? "absent" }
case "save":
  answer {
    try storage.save(arguments[4], forKey: arguments[3])
    return "saved"
  }
case "remove":  // KEY
  answer {
    try storage.delete(forKey: arguments[3])
    return "removed"
  }
case "save-timed":  // KEY: a number of each line of its input; says when it was acknowledged
  while let line = readLine() {
    answer {
      try storage.save(Int(line)!, forKey: arguments[3])
      return "\(DispatchTime.now().uptimeNanoseconds)"
    }
  }
case "save-on":  // KEY: counts up, until it is killed
  for number in 1... {
    answer {
      try storage.save(number, forKey: arguments[3])
      return "\(number)"
    }
  }
case "count":  // KEY TIMES: adds one so many times
  answer {
    for _ in 0..<Int(arguments[4])! {
      try storage.update(Int.self, forKey: arguments[3]) { $0 = ($0 ?? 0) + 1 }
    }
    return "done"
  }
default:
  fatalError("no such command")
}
