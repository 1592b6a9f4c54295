import Foundation
import StorageCore
import VaultBackend

// A process of its own for the tests: to be killed, to share a vault with, to run out of disk.
// VaultTestChild COMMAND PATH [ARGUMENT...], or standard APPLICATION VALUE

let arguments = CommandLine.arguments
guard arguments.count >= 3 else { fatalError("usage: VaultTestChild COMMAND PATH ...") }
let program = Program(
  path: arguments[2], access: arguments[1] == "serve-read-only" ? .readOnly : .readWrite)

switch arguments[1] {
case "serve", "serve-read-only":  // performs each line of its standard input, and answers in one
  while let line = readLine() {
    say(program.answer(line.split(separator: " ").map(String.init)))
  }
case "write-on":  // WRITER FIRST: ten keys in turn, until it is killed
  program.writeOn(Int(arguments[3])!, from: Int(arguments[4])!)
case "standard":  // APPLICATION VALUE: by the properties of the standard vault
  SecureStorage.bootstrap(applicationID: arguments[2])
  StorageDiagnostics.handler = { say("said \($0.code)") }
  StandardSettings.use(arguments[3])
case "mounted":  // APPLICATION SOURCE ACCESS TRUST COMMAND...: the standard vault in a container
  Mounted.run(Array(arguments.dropFirst(2)))
case "transfer-on":  // WRITER FIRST: between accounts, until it is killed
  program.transferOn(Int(arguments[3])!, from: Int(arguments[4])!)
case "full-disk":
  program.fillTheDisk()
default:
  say(program.answer([arguments[1]] + arguments.dropFirst(3)))
}
