import Foundation
import LocalData
import TestSupport

// LocalDataTestChild FOLDER GROUP-FOLDER read|write: whether another user gets into a group.

let arguments = CommandLine.arguments
if arguments.count == 5, arguments[1] == "migrate" {
  try await MigrationChild.run(arguments)
  exit(0)
}
if arguments.count >= 5, arguments[1] == "program" {
  try await ProgramChild.run(Array(arguments.dropFirst(2)))
  exit(0)
}
if arguments.count >= 5, arguments[1] == "sync" {
  try await SyncChild.run(Array(arguments.dropFirst(2)))
  exit(0)
}
if arguments.count >= 6, arguments[1] == "leak" {
  try await LeakChild.run(Array(arguments.dropFirst(2)))
  exit(0)
}
if arguments.count >= 4, arguments[1] == "rotate" {
  try await RotationChild.run(Array(arguments.dropFirst(2)))
  exit(0)
}
guard arguments.count == 4 else { exit(64) }
let group = StorageDomain.appGroupUserDefaults(identifier: "group.test")
let documents = StorageDomain.appGroupFileSystem(id: "group.test", directory: .documents)
func key(_ name: String, _ domain: StorageDomain, _ policy: SecurityPolicy) -> StoredKey<String> {
  StoredKey(name, in: domain, security: policy, owner: "Tests", description: "A value of a test.")
}
let keys = [
  key("theme", group, .none), key("secret", group, .recommended),
  key("file", documents, .recommended),
]
let router = StorageRouter(
  applicationID: "com.example.other", keySource: .key(SymmetricKey(size: .bits256)),
  folder: URL(fileURLWithPath: arguments[1], isDirectory: true),
  configuration: StorageConfiguration(
    keychain: .vault,
    groupFolders: ["group.test": URL(fileURLWithPath: arguments[2], isDirectory: true)]))

for key in keys {
  do {
    if arguments[3] == "read" {
      print(try await router.get(key) ?? "absent")
    } else {
      try await router.set("of another", for: key)
      print("done")
    }
  } catch {
    print(error.code)
  }
}
