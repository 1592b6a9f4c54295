import Foundation
import LocalData

/// One call of a program whose keys may have leaked:
/// LocalDataTestChild leak FOLDER PLACE KEY save NAME VALUE, load NAME..., or rotate KEY names|-.
enum LeakChild {
  private static let places: [String: (StorageDomain, SecurityPolicy)] = [
    "keychain": (.keychain(service: "com.example"), .recommended),
    "keychain that seals": (
      .keychain(service: "com.example"), .keychain(accessibility: .afterFirstUnlock)
    ),
    "suite": (.userDefaults, .recommended),
    "documents": (.fileSystem(directory: .documents), .recommended),
    "caches": (.fileSystem(directory: .caches), .recommended),
    "sealed documents": (.encryptedFileSystem(directory: .documents), .recommended),
    "group suite": (.appGroupUserDefaults(identifier: "group.test"), .recommended),
    "group documents": (
      .appGroupFileSystem(id: "group.test", directory: .documents), .recommended
    ),
  ]

  static func run(_ arguments: [String]) async throws {
    let (domain, security) =
      arguments[1] == "custom folder"
      ? (
        .fileSystem(
          directory: .custom(URL(fileURLWithPath: arguments[0] + "/custom", isDirectory: true))),
        SecurityPolicy.recommended
      ) : places[arguments[1]]!
    let router = StorageRouter(
      applicationID: "com.example.app", keySource: source(arguments[2]),
      folder: URL(fileURLWithPath: arguments[0], isDirectory: true),
      configuration: StorageConfiguration(keychain: .vault))
    func key(_ name: String) -> StoredKey<String> {
      StoredKey(
        name, in: domain, security: security, owner: "Tests", description: "A value of a test.")
    }
    do throws(StorageError) {
      switch arguments[3] {
      case "save":
        try await router.set(arguments[5], for: key(arguments[4]))
        print("saved")
      case "rotate":
        _ = try await router.rotate(
          openedBy: source(arguments[4]), names: arguments[5] == "names")
        print("rotated")
      default:
        for name in arguments[4...] {
          do throws(StorageError) {
            if let value = try await router.get(key(name)) { print("\(name)=\(value)") }
          } catch {
            print("\(error.code)")
          }
        }
      }
    } catch {
      print("\(error)")
    }
  }

  private static func source(_ byte: String) -> KeySource {
    .key(SymmetricKey(data: Data(repeating: UInt8(byte)!, count: 32)))
  }
}
