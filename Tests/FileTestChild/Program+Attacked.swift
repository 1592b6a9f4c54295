import FileBackend
import Foundation
import TestSupport

extension Program {
  /// Uses a folder below a volume of the process's group while somebody exchanges a folder on the
  /// way.
  ///
  /// It says each result that it got, once: `done`, or the code of an error.
  func attacked(_ count: Int) {
    let key = KeySource.key(SymmetricKey(data: Data(repeating: 7, count: 32)))
    var said: Set<String> = []
    var descriptors = 0
    for number in 0..<count {
      // Each is as another start of the program.
      let folder = SealedFolder(
        at: URL(fileURLWithPath: path, isDirectory: true), keySource: key,
        folderTrust: .processGroup, deadline: .seconds(1))
      said.insert(result { try folder.write(Self.value(number, 20_000), named: "name") })
      said.insert(result { _ = try folder.read(named: "name") })
      said.insert(result { _ = try folder.names() })
      if number % 3 == 0 { said.insert(result { try folder.remove("name") }) }
      if number == 20 { descriptors = Exchange.descriptorCount() }
    }
    let more = descriptors == 0 ? 0 : Exchange.descriptorCount() - descriptors
    said.insert(more > 16 ? "\(more) descriptors more" : "done")
    for line in said.sorted() { say(line) }
  }

  private func result(_ body: () throws -> Void) -> String {
    do {
      try body()
      return "done"
    } catch let error as StorageError {
      return "\(error.code)"
    } catch {
      return "not a StorageError: \(error)"
    }
  }
}
