import Foundation
import LocalData
import TestSupport

/// A program that uses a group's folder while a member of the group exchanges a folder and a link
/// in it: LocalDataTestChild attacked FOLDER GROUP-FOLDER TIMES.
///
/// It says each result that it got, once: `done`, the code of an error, or `private` for what it
/// must not see.
enum AttackedChild {
  private struct Keys {
    let file = StoredKey<String>(
      "file", in: .appGroupFileSystem(id: "group.test", directory: .documents), security: .none,
      owner: "Tests", description: "A value of a test.")
  }

  static func run(_ arguments: [String]) async {
    let router = StorageRouter(
      applicationID: "com.example.victim", keySource: .key(SymmetricKey(size: .bits256)),
      folder: URL(fileURLWithPath: arguments[2], isDirectory: true),
      configuration: StorageConfiguration(
        keychain: .vault,
        groupFolders: ["group.test": URL(fileURLWithPath: arguments[3], isDirectory: true)]))
    do { try router.registerKeys(Keys()) } catch { print("no catalog: \(error)") }
    var said: Set<String> = []
    var descriptors = 0
    let file = Keys().file
    for number in 0..<(Int(arguments[4]) ?? 0) {
      await said.insert(
        result {
          try await router.set("value \(number)", for: file)
          return nil
        })
      await said.insert(result { try await router.get(file) })
      await said.insert(result { try await router.contains(file) ? "done" : nil })
      if number % 3 == 0 {
        await said.insert(
          result {
            try await router.remove(file)
            return nil
          })
      }
      if number % 20 == 0 {
        await said.insert(result { "\(try await router.audit().findings)" })
      }
      // What the first uses of everything keep open is no leak.
      if number == 100 { descriptors = Exchange.descriptorCount() }
    }
    let more = descriptors == 0 ? 0 : Exchange.descriptorCount() - descriptors
    said.insert(more > 8 ? "\(more) descriptors more" : "done")
    for line in said.sorted() { print(line) }
  }

  private static func result(_ body: () async throws -> String?) async -> String {
    do {
      return try await body()?.contains("PRIVATE") == true ? "private" : "done"
    } catch let error as StorageError {
      return "\(error.code)"
    } catch {
      return "not a StorageError: \(error)"
    }
  }
}
