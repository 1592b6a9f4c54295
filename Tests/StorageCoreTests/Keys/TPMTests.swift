import Foundation
import StorageCore
import StorageTesting
import TestSupport
import Testing

/// A key that systemd-creds has sealed to a TPM; the TPM is swtpm's.
@Suite struct TPMTests {
  @Test func aKeyInATPMOpensTheStoreOnThatMachineAloneAndARecoveryKeyAnywhere() throws {
    let folder = try TemporaryFolder()
    let machine = try SoftwareTPM(folder, "tpm")
    let credential = try machine.seal("key.cred")
    let source = machine.source(credential)
    let delegate = OpenDelegate()
    func storage(_ source: KeySource) -> DelegatedStorage { .quiet(delegate, source) }

    try storage(source).save("sealed", forKey: "k")
    #expect(try storage(source).load(forKey: "k") == "sealed")
    let recovery = try storage(source).keyAdministration.exportRecoveryKey()

    let thief = try SoftwareTPM(folder, "tpm-of-a-thief")
    let failure = error { _ = try storage(thief.source(credential)).load(String.self, forKey: "k") }
    #expect(failure?.code == .keyUnavailable)
    #expect(failure?.message.contains("systemd-creds") == true)
    #expect(failure?.message.contains("exit code 1") == true)

    // The move to another machine: the recovery key opens the store and adds a slot for the new TPM.
    let moved = storage(.recovery(recovery))
    #expect(try moved.load(forKey: "k") == "sealed")
    let other = try SoftwareTPM(folder, "tpm-2")
    let anew = other.source(try other.seal("other.cred"), name: "tpm 2")
    try moved.keyAdministration.add(anew)
    #expect(try storage(anew).load(forKey: "k") == "sealed")
  }

  // MARK: - The code of the guide "Keys in the machine's TPM"; scripts/tpm-guide.sh runs its commands

  private func sourceOfATool() -> KeySource {
    let credential = "/home/me/tool-key.cred"
    let source = KeySource.command(["systemd-creds", "--name=tool-key", "decrypt", credential, "-"])
    return source
  }

  private func startOfAService() {
    SecureStorage.bootstrap(
      applicationID: "com.example.tool", keySource: .systemdCredential("tool-key"))
  }

  @Test func theGuideShowsCodeThatIsCompiledHere() throws {
    let guide = try GuideCode("StorageCore/KeysInTheTPM")
    #expect(guide.blocks.count == 2)
    #expect(try guide.blocks(missingIn: #filePath) == [])
  }
}

/// A TPM in software, until it is released.
///
/// Nobody manages its three sessions, as the kernel does for a chip: it seals and opens once.
private final class SoftwareTPM {
  private let folder: TemporaryFolder
  private let process: Child
  private let device: String

  init(_ folder: TemporaryFolder, _ name: String) throws {
    self.folder = folder
    let state = folder.path + "/" + name
    FileCalls.makeFolder(state)
    // Another process may have a port; the TPM then ends at once.
    var started: (process: Child, port: Int)?
    for _ in 0..<20 where started == nil {
      let port = Int.random(in: 20_000..<30_000)
      let process = try Child([
        "swtpm", "socket", "--tpm2", "--tpmstate", "dir=\(state)",
        "--server", "type=tcp,bindaddr=127.0.0.1,port=\(port)",
        "--ctrl", "type=tcp,bindaddr=127.0.0.1,port=\(port + 1)",
        "--flags", "not-need-init,startup-clear", "--pid", "file=\(state)/pid",
      ])
      // The file is written when the TPM listens.
      while process.isRunning, !FileManager.default.fileExists(atPath: state + "/pid") {
        usleep(10_000)
      }
      if process.isRunning { started = (process, port) }
    }
    let (process, port) = try #require(started)
    self.process = process
    device = "--tpm2-device=swtpm:host=127.0.0.1,port=\(port)"
  }

  deinit { process.kill() }

  /// Seals a new key to this TPM alone, and returns the credential's path.
  func seal(_ name: String) throws -> String {
    let path = folder.path + "/" + name
    _ = try Child.run([
      "sh", "-c",
      "head -c 32 /dev/urandom | systemd-creds \(device) --with-key=tpm2 --name=tool-key encrypt - \(path)",
    ])
    return path
  }

  /// The key of a credential, from this TPM.
  func source(_ credential: String, name: String = "") -> KeySource {
    .command(
      ["systemd-creds", device, "--name=tool-key", "decrypt", credential, "-"], name: name,
      timeout: .seconds(60))
  }
}
