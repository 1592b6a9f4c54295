import KeyringTesting
import StorageCore
import TestSupport
import Testing

@testable import KeyringBackend

/// A program that uses the keyring and then forks.
///
/// In a process of its own: the locks that the threads of other tests hold at that moment are held
/// for ever in the child, those of the runtime and of a sanitizer as well.
@Suite struct ForkedChildTests {
  @Test func aForkedChildIsRefusedAtOnce() async {
    await #expect(processExitsWith: .success) {
      let desktop = try FakeDesktop()
      let storage = desktop.storage(.patient)
      try storage.save("kept", forKey: "key")
      let before = desktop.service.items
      ForkedChild.prepare()
      let uses: [() throws -> Void] = [
        { try storage.save("new", forKey: "key") },
        { _ = try storage.load(String.self, forKey: "key") },
      ]
      for use in uses {
        let (outcome, _) = ForkedChild.run(deadline: 120) { _ in
          code { try use() } == .unsupported ? 0 : 1
        }
        #expect(outcome == .exited(0))
      }
      #expect(desktop.service.items == before)
      #expect(try storage.load(String.self, forKey: "key") == "kept")
    }
  }
}
