import Foundation
import StorageCore
import Testing
import VaultBackend

/// What a change of the keys says while it is not finished; `Transcripts/keys.txt` has the rest.
struct KeyChangeTests {
  @Test func aRotationThatIsNotFinishedIsTold() throws {
    let tool = try Tool()
    let storage = VaultStorage(
      at: URL(fileURLWithPath: tool.vault), keySource: .file(URL(fileURLWithPath: tool.keyFile)))
    try storage.saveAll(
      Dictionary(uniqueKeysWithValues: (0..<100).map { ("NAME\($0)", "value") }))
    var found: [Tool.Result] = []
    var reports: [[String: Any]] = []
    _ = try storage.keyAdministration.rotateDataKey { done, total in
      guard done < total else { return }
      do {
        found.append(try tool.run("verify"))
        reports.append(try tool.run("verify", "--json").json())
      } catch { Issue.record(error) }
    }
    #expect(found.map(\.code) == [0])
    #expect(
      found.first?.errors.contains("36 values are still under a data key from before") == true)
    #expect(found.first?.errors.contains("rotate --resume finishes it") == true)
    #expect(reports.first?["oldKey"] as? Int == 36)
    #expect(try tool.run("verify", "--json").json()["oldKey"] as? Int == 0)
    #expect(try tool.run("rotate", "--root", "--same-key", "--new-key-file", "x").code == 64)
  }
}
