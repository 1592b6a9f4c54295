import EtcdBackend
import Foundation

// A program of a fleet: run it on as many machines as you like.
// Fleet ENDPOINTS KEYFILE COMMAND [ARGUMENT...]: create; set NAME VALUE; follow NAME

let arguments = CommandLine.arguments
guard arguments.count >= 4 else {
  print("usage: Fleet ENDPOINTS KEYFILE create | set NAME VALUE | follow NAME")
  exit(64)
}

let fleet = EtcdStorage(
  endpoints: arguments[1].split(separator: ",").map(String.init), prefix: "/demo/shop",
  keySource: .file(URL(fileURLWithPath: arguments[2])))

/// Says something with the time, in seconds of the machine's clock.
func say(_ text: String) {
  let line = "\(Double(DispatchTime.now().uptimeNanoseconds) / 1e9) \(text)\n"
  FileHandle.standardOutput.write(Data(line.utf8))
}

switch arguments[3] {
case "create":
  try fleet.create()
case "set":
  let begin = DispatchTime.now().uptimeNanoseconds
  try fleet.save(arguments[5], forKey: StoreKey(arguments[4]))
  let milliseconds = (DispatchTime.now().uptimeNanoseconds - begin) / 1_000_000
  say("wrote \(arguments[4]) in \(milliseconds) ms")
default:
  let name = arguments[4]
  try fleet.open(.mustExist)
  let setting = Live<String?, EtcdStorage>(fleet, name)
  // Each change is said once; reads come from memory, also while etcd is away.
  var last: String?
  var isAway = false
  while true {
    let now = setting.wrappedValue
    if now != last {
      say("sees \(name) = \(now ?? "nothing")")
      last = now
    }
    if case .away = fleet.state, !isAway {
      isAway = true
      say("etcd's member is away, and \(name) is still \(now ?? "nothing")")
    } else if case .current = fleet.state, isAway {
      isAway = false
      say("follows another member")
    }
    usleep(1_000)
  }
}
