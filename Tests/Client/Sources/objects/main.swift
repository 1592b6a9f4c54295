import Foundation

#if UMBRELLA
  import SecurePropertyStorage
#else
  import VaultBackend
#endif

// Stores an object of Foundation and an NSNumber within [Any], and reads what is stored.
let isReading = CommandLine.arguments.count > 1
let values: [(String, Any)] = [("object", NSString("a-secret")), ("list", [NSNumber(value: 1)])]
for (key, value) in values {
  do {
    if !isReading { try VaultStorage.standard.save(value, forKey: key) }
    print(key, try VaultStorage.standard.object(forKey: key) != nil)
    if key == "object" { _ = try VaultStorage.standard.load(NSString.self, forKey: key) }
  } catch {
    print(key, error.code, error.message.contains("product StorageFoundation"))
  }
}
