import Foundation
import PostgresBackend
import RemoteTesting

// PostgresTestChild CONNECTION STORE DEADLINE-MS COMMAND [ARGUMENT...]: see FleetProgram.

let arguments = CommandLine.arguments
guard arguments.count >= 5 else {
  fatalError("usage: PostgresTestChild CONNECTION STORE MS COMMAND")
}
let configuration = PostgresConfiguration(
  arguments[1], store: arguments[2], deadline: .milliseconds(Int(arguments[3])!))
let key = KeySource.key(SymmetricKey(data: Data(repeating: 7, count: 32)))
FleetProgram(
  PostgresStorage(configuration, keySource: key),
  exact: PostgresStorage(configuration, keySource: key, reading: .linearizable)
).run(Array(arguments.dropFirst(4)))
