import EtcdBackend
import Foundation

// A program of its own for the tests of a fleet: to be killed, stopped, and cut off.
// EtcdTestChild ENDPOINTS PREFIX DEADLINE-MS COMMAND [ARGUMENT...]

let arguments = CommandLine.arguments
guard arguments.count >= 5 else { fatalError("usage: EtcdTestChild ENDPOINTS PREFIX MS COMMAND") }
let program = FleetProgram(
  endpoints: arguments[1].split(separator: ",").map(String.init), prefix: arguments[2],
  milliseconds: Int(arguments[3])!)
switch arguments[4] {
case "serve":  // performs each line of its standard input, and answers in one
  while let line = readLine() {
    say(program.answer(line.split(separator: " ").map(String.init)))
  }
case "work":  // NAME SEED OPERATIONS KEYS: says when each operation began, and how it ended
  program.work(
    arguments[5], seed: UInt64(arguments[6])!, operations: Int(arguments[7])!,
    keys: Int(arguments[8])!)
case "count":  // TIMES: adds one so often, and says how often that was acknowledged and unknown
  program.count(Int(arguments[5])!)
case "rotate":  // until it is killed or has ended
  say(program.rotate())
default: fatalError("no such command")
}
