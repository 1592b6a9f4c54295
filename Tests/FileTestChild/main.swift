import FileBackend
import Foundation
import TestSupport

// A process of its own for the tests: to be killed, to share a folder with, to run out of disk.
// FileTestChild COMMAND FOLDER [ARGUMENT...]

let arguments = CommandLine.arguments
guard arguments.count >= 3 else { fatalError("usage: FileTestChild COMMAND FOLDER ...") }
let program = Program(path: arguments[2])

switch arguments[1] {
case "write-on":  // WRITER SEED: writes, replaces, renames and removes, until it is killed
  program.writeOn(Int(arguments[3])!, seed: UInt64(arguments[4])!)
case "attacked":  // COUNT: while somebody exchanges a folder on the way and a link
  program.attacked(Int(arguments[3])!)
case "exchange":  // PATH
  Exchange.forever(arguments[2], arguments[3])
default:
  say(program.answer([arguments[1]] + arguments.dropFirst(3)))
}
