import EtcdBackend
import Foundation
import RemoteTesting

// EtcdTestChild ENDPOINTS PREFIX DEADLINE-MS COMMAND [ARGUMENT...]: see FleetProgram.

let arguments = CommandLine.arguments
guard arguments.count >= 5 else { fatalError("usage: EtcdTestChild ENDPOINTS PREFIX MS COMMAND") }
let configuration = EtcdConfiguration(
  endpoints: arguments[1].split(separator: ",").map(String.init), prefix: arguments[2],
  deadline: .milliseconds(Int(arguments[3])!))
let key = KeySource.key(SymmetricKey(data: Data(repeating: 7, count: 32)))
FleetProgram(
  EtcdStorage(configuration, keySource: key),
  exact: EtcdStorage(configuration, keySource: key, reading: .linearizable)
).run(Array(arguments.dropFirst(4)))
