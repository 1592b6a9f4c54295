import Foundation
import Testing
import VaultBackend

/// The commands on sealed folders.
struct FilesTests {
  private let tool: Tool
  private var folder: String { tool.data + "/files" }

  init() throws {
    tool = try Tool()
    let made = try tool.run("files", "init")
    try #require(made.code == 0, "\(made.errors)")
  }

  private func large(_ count: Int, _ byte: UInt8 = 7) -> Data {
    Data((0..<count).map { UInt8(truncatingIfNeeded: $0 / 7) ^ byte })
  }

  private var onlyBlob: String {
    get throws {
      let names = try FileManager.default.contentsOfDirectory(atPath: folder + "/blobs")
      try #require(names.count == 1)
      return folder + "/blobs/" + names[0]
    }
  }

  private func flip(_ path: String, at offset: Int) throws {
    let handle = try FileHandle(forUpdating: URL(fileURLWithPath: path))
    try handle.seek(toOffset: UInt64(offset))
    let old = try #require(try handle.read(upToCount: 1))[0]
    try handle.seek(toOffset: UInt64(offset))
    try handle.write(contentsOf: Data([old ^ 1]))
    try handle.close()
  }

  @Test func whatComesThroughAPipeGoesOutThroughOne() throws {
    let value = large(300_000)
    #expect(try tool.run(["files", "put", "dump"], input: value).code == 0)
    #expect(try tool.run("files", "get", "dump").output == value)
    let part = try tool.run("files", "get", "dump", "--offset", "65530", "--length", "20")
    #expect(part.output == value[65_530..<65_550])
    #expect(try tool.run("files", "get", "absent").code == 1)
    try value.write(to: URL(fileURLWithPath: tool.path("source")))
    let put = try tool.run("files", "put", "copy", tool.path("source"), "--json")
    #expect(try put.json()["bytes"] as? Int == 300_000)
    #expect(try tool.run("files", "get", "copy", "--to", tool.path("target")).code == 0)
    #expect(try Data(contentsOf: URL(fileURLWithPath: tool.path("target"))) == value)
    #expect(try tool.run("files", "get", "copy", "--to", tool.path("target")).code == 3)
  }

  @Test func aPipeWhoseCommandFailedReplacesNothing() throws {
    #expect(try tool.run(["files", "put", "db"], input: Data("dump".utf8)).code == 0)
    for line in ["false | \"$0\" files put db", "\"$0\" files put db < /dev/null"] {
      let put = try tool.shell(line)
      #expect(put.code == 65 && put.errors.contains("--empty"), "\(put.code) \(put.errors)")
      #expect(try tool.run("files", "get", "db").output == Data("dump".utf8))
    }
    #expect(try tool.shell("false | \"$0\" files put new").code == 65)
    #expect(try tool.run("files", "get", "new").code == 1)
    #expect(try tool.shell("\"$0\" files put db --empty < /dev/null").code == 0)
    #expect(try tool.run("files", "get", "db").output.isEmpty)
  }

  @Test func whatIsLeftOfStandardInputIsStored() throws {
    let value = large(300_000)
    try (Data("head\n".utf8) + value).write(to: URL(fileURLWithPath: tool.path("source")))
    let put = try tool.shell("{ read -r line; \"$0\" files put rest --json; } < source")
    #expect(put.code == 0, "\(put.errors)")
    #expect(try put.json()["bytes"] as? Int == 300_000)
    #expect(try tool.run("files", "get", "rest").output == value)
    let pipe = try tool.shell("head -c 100000 source | \"$0\" files put pipe")
    #expect(pipe.code == 0, "\(pipe.errors)")
    #expect(try tool.run("files", "get", "pipe").output.count == 100_000)
  }

  /// The largest resident size of a run, in KiB: getrusage(2) of children.
  private func peak(_ command: String) throws -> Int {
    let result = try tool.shell(
      """
      exec python3 -c 'import resource, subprocess, sys
      subprocess.run(["/bin/sh", "-c", sys.argv[2], sys.argv[1]], check=True)
      print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' "$0" '\(command)'
      """)
    #expect(result.code == 0, "\(result.errors)")
    return try #require(Int(result.lines.last ?? ""))
  }

  @Test func aLongFileTakesNoMemory() throws {
    let size = ProcessInfo.processInfo.environment["SPS_SOAK"] == nil ? 256 << 20 : 2 << 30
    let made = try tool.shell("truncate -s \(size) long && truncate -s 1M short")
    #expect(made.code == 0)
    for (name, commands) in [
      ("put", ["files put x short", "files put y long"]),
      ("put from standard input", ["files put x < short", "files put y < long"]),
      ("get", ["files get x > /dev/null", "files get y > /dev/null"]),
    ] {
      let peaks = try commands.map { try peak("exec \"$0\" \($0)") }
      #expect(peaks[1] - peaks[0] <= 16 << 10, "\(name): \(peaks) KiB")
    }
    #expect(try tool.run("files", "list", "--json").json()["values"] as? [[String: Any]] != nil)
  }

  @Test func standardInputThatCannotBeOpenedByItsPathIsRead() throws {
    try large(100_000).write(to: URL(fileURLWithPath: tool.path("source")))
    // Without what root may do, so that the file's mode counts.
    let drop = geteuid() == 0 ? "setpriv --bounding-set=-all --inh-caps=-all" : ""
    let put = try tool.shell("exec < source; chmod 0 source; \(drop) \"$0\" files put name")
    #expect(put.code == 0, "\(put.errors)")
    #expect(try tool.run("files", "get", "name").output == large(100_000))
    let closed = try tool.shell("\"$0\" files put name < .")
    #expect(closed.code == 74 && closed.errors.contains("standard input"), "\(closed.errors)")
    #expect(try tool.run("files", "get", "name").output == large(100_000))
  }

  /// An entry under a name that is none of a sealed folder, and one whose name can't be read.
  private func spoilTheIndex() throws {
    let file = URL(fileURLWithPath: folder + "/index.vault")
    let key = KeySource.file(URL(fileURLWithPath: tool.keyFile))
    try VaultStorage(at: file, keySource: key).save(Data([9, 9]), forKey: "newer")
    try VaultStorage(at: file, keySource: key, authenticationTag: Data([1]))
      .save("x", forKey: "strange")
  }

  @Test func entriesThatCannotBeReadLeaveTheOthersToListAndExport() throws {
    for name in ["a", "z"] {
      #expect(try tool.run(["files", "put", name], input: large(20_000)).code == 0)
    }
    try spoilTheIndex()
    let names = try tool.run("files", "list")
    #expect(names.code == 12 && names.text == "a\nnewer\nz\n", "\(names.errors)")
    let long = try tool.run("files", "list", "--long")
    #expect(long.code == 12 && long.lines.count == 2, "\(long.errors)")
    #expect(long.errors.contains("newer") && long.errors.contains("files verify"))
    let list = try tool.run("files", "list", "--json")
    #expect(list.code == 12, "\(list.errors)")
    #expect((try list.json()["values"] as? [[String: Any]])?.count == 2)
    #expect(try list.json()["unreadable"] as? [String] == ["newer"])
    #expect(try list.json()["unnamed"] as? Int == 1)
    let exported = try tool.run("files", "export", tool.path("out"), "--json")
    #expect(exported.code == 12, "\(exported.errors)")
    #expect(try exported.json()["failed"] as? [String] == ["newer"])
    #expect(try exported.json()["values"] as? Int == 2)
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: tool.path("out")).sorted() == ["a", "z"])
  }

  @Test func aBackupSkipsWhatIsDamagedIfAskedTo() throws {
    #expect(try tool.run(["files", "put", "gone"], input: large(100_000)).code == 0)
    try FileManager.default.removeItem(atPath: onlyBlob)
    #expect(try tool.run(["files", "put", "well"], input: large(100_000, 9)).code == 0)
    try spoilTheIndex()
    let refused = try tool.run("files", "backup", tool.path("first"))
    #expect(refused.code != 0 && refused.errors.contains("--skip-damaged"), "\(refused.errors)")
    let backup = try tool.run("files", "backup", tool.path("backup"), "--skip-damaged", "--json")
    #expect(backup.code == 12, "\(backup.errors)")
    #expect(try backup.json()["leftOut"] as? [String] == ["gone", "newer"])
    #expect(try backup.json()["unnamed"] as? Int == 1)
    #expect(backup.errors.contains("gone") && backup.errors.contains("newer"))
    #expect(try tool.run("files", "restore", tool.path("backup"), "--yes").code == 0)
    #expect(try tool.run("files", "list").text == "well\n")
    #expect(try tool.run("files", "get", "well").output == large(100_000, 9))
    #expect(try tool.run("files", "verify").code == 0)
  }

  @Test func doctorNamesWhatIsWrongInTheFolder() throws {
    for name in ["gone", "cut", "denied", "well"] {
      #expect(try tool.run(["files", "put", name], input: large(100_000)).code == 0)
    }
    func files(_ result: Tool.Result, _ state: String) throws -> String {
      let all = try #require(try result.json()["findings"] as? [[String: Any]])
      return all.filter { $0["subject"] as? String == "files" && $0["state"] as? String == state }
        .compactMap { $0["message"] as? String }.joined(separator: "\n")
    }
    let sound = try tool.run("doctor", "--json")
    #expect(try files(sound, "bad") == "" && files(sound, "good").contains("files verify"))
    let blobs = try blobsByName(["gone", "cut", "denied"])
    try FileManager.default.removeItem(atPath: blobs["gone"]!)
    try Data(contentsOf: URL(fileURLWithPath: blobs["cut"]!)).dropLast()
      .write(to: URL(fileURLWithPath: blobs["cut"]!))
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o666], ofItemAtPath: blobs["denied"]!)
    try Data([1]).write(
      to: URL(fileURLWithPath: folder + "/blobs/" + String(repeating: "0f", count: 16)))
    let found = try tool.run("doctor", "--json")
    #expect(found.code == 2)
    let bad = try files(found, "bad")
    for name in ["missingBlob: gone", "otherBlob: cut", "deniedBlob: denied", "no name uses"] {
      #expect(bad.contains(name), "\(name): \(bad)")
    }
    #expect(!bad.contains("well"))
    // So of a folder that is named by its index.
    let index = ["--vault", folder + "/index.vault", "--key-file", tool.keyFile]
    #expect(try files(try tool.run(["doctor", "--json"] + index), "bad") == bad)
  }

  /// Which blob each name has, by moving one blob after the other away.
  private func blobsByName(_ names: [String]) throws -> [String: String] {
    var found: [String: String] = [:]
    for blob in try FileManager.default.contentsOfDirectory(atPath: folder + "/blobs") {
      let path = folder + "/blobs/" + blob
      try FileManager.default.moveItem(atPath: path, toPath: tool.path("away"))
      let report = try tool.run("files", "verify", "--json")
      try FileManager.default.moveItem(atPath: tool.path("away"), toPath: path)
      let finding = (try report.json()["findings"] as? [[String: Any]])?.first
      if let name = finding?["name"] as? String { found[name] = path }
    }
    return try #require(names.allSatisfy { found[$0] != nil } ? found : nil)
  }

  @Test func namesAreListedRenamedAndRemoved() throws {
    for name in ["b", "a/../x"] {
      #expect(try tool.run(["files", "put", name], input: large(20_000)).code == 0)
    }
    #expect(try tool.run("files", "list").text == "a/../x\nb\n")
    let values = try tool.run("files", "list", "--json").json()["values"] as? [[String: Any]]
    #expect(values?.map { $0["bytes"] as? Int } == [20_000, 20_000])
    #expect(try tool.run("files", "rename", "b", "a/../x").code == 3)
    #expect(try tool.run("files", "rename", "b", "c").code == 0)
    #expect(try tool.run("files", "rename", "b", "c").code == 1)
    #expect(try tool.run("files", "export", tool.path("out")).code == 0)
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: tool.path("out")).sorted()
        == ["a%2F..%2Fx", "c"])
    #expect(try tool.run("files", "remove", "c", "absent").code == 1)
    #expect(try tool.run("files", "remove", "c", "absent", "--force").code == 0)
    #expect(try tool.run("files", "list").text == "a/../x\n")
  }

  @Test func whatIsDamagedIsNamedAndTheRestIsRead() throws {
    let value = large(300_000)
    #expect(try tool.run(["files", "put", "dump"], input: value).code == 0)
    #expect(try tool.run("files", "verify").code == 0)
    try flip(onlyBlob, at: 2 * 65_552 + 100)
    let found = try tool.run("files", "verify", "--json")
    #expect(found.code == 2)
    let finding = (try found.json()["findings"] as? [[String: Any]])?.first
    #expect(finding?["kind"] as? String == "damagedBlob" && finding?["name"] as? String == "dump")
    #expect(finding?["ranges"] as? [[Int]] == [[131_072, 196_608]])
    #expect(try tool.run("files", "verify").text.contains("bytes 131072-196607"))
    let got = try tool.run("files", "get", "dump")
    #expect(got.code == 12 && got.output == value[..<131_072])
    #expect(try tool.run("files", "get", "dump", "--to", tool.path("target")).code == 12)
    #expect(!FileManager.default.fileExists(atPath: tool.path("target")))
    let rest = try tool.run("files", "get", "dump", "--offset", "196608")
    #expect(rest.code == 0 && rest.output == value[196_608...])
    #expect(try tool.run("files", "export", tool.path("out")).code == 12)
    #expect(try tool.run("files", "repair", "--yes").code == 0)
    #expect(try tool.run("files", "list").text == "dump\n")
    #expect(try tool.run("files", "repair", "--yes", "--drop-unreadable").code == 0)
    #expect(try tool.run("files", "list").text == "")
    #expect(try tool.run("files", "verify").code == 0)
  }

  @Test func aBackupIsRestoredAndARotationKeepsTheValues() throws {
    let value = large(100_000)
    #expect(try tool.run(["files", "put", "dump"], input: value).code == 0)
    let before = try onlyBlob
    #expect(try tool.run("files", "backup", tool.path("backup")).code == 0)
    #expect(try tool.run("files", "backup", tool.path("backup")).code == 3)
    #expect(try tool.run("files", "rotate", "--same-key").code == 0)
    #expect(try onlyBlob != before)
    #expect(try tool.run("files", "rotate", "--resume").code == 0)
    #expect(try tool.run("files", "compact").code == 0)
    #expect(try tool.run("files", "get", "dump").output == value)
    #expect(try tool.run("files", "remove", "dump").code == 0)
    #expect(try tool.run("files", "restore", tool.path("backup"), "--yes").code == 0)
    #expect(try tool.run("files", "get", "dump").output == value)
    #expect(try tool.run("doctor").text.contains("files"))
  }

  @Test func aRotationToANewKeyEndsTheOldOne() throws {
    let value = large(100_000)
    #expect(try tool.run(["files", "put", "dump"], input: value).code == 0)
    let key = tool.path("new.key")
    #expect(try tool.run("files", "rotate").code == 64)
    // What opens the folder already is no new key.
    #expect(try tool.run("files", "rotate", "--new-key-file", tool.keyFile).code == 64)
    #expect(try tool.run("files", "rotate", "--resume", "--new-key-file", key).code == 64)
    let rotated = try tool.run("files", "rotate", "--yes", "--new-key-file", key, "--json")
    #expect(rotated.code == 0, "\(rotated.errors)")
    #expect((try rotated.json()["ended"] as? [Any])?.count == 1)
    #expect(try tool.run("files", "get", "dump").code != 0)
    let get = ["files", "get", "dump", "--folder", folder, "--key-file", key]
    #expect(try tool.run(get).output == value)
  }

  @Test func whatCannotBeExportedIsNamedAndTheRestIsThere() throws {
    let long = String(repeating: "n", count: 300)
    let names = ["first", "hidden", long, String(repeating: "m", count: 255), "zebra"]
    for name in names {
      #expect(try tool.run(["files", "put", name], input: large(100)).code == 0)
    }
    #expect(try tool.run(["files", "put", "hidden"], input: large(100_000)).code == 0)
    let blob = try onlyBlob
    try FileManager.default.moveItem(atPath: blob, toPath: tool.path("moved"))
    try FileManager.default.createSymbolicLink(
      atPath: blob, withDestinationPath: tool.path("moved"))
    let exported = try tool.run("files", "export", tool.path("out"), "--json")
    #expect(exported.code == 77, "\(exported.errors)")
    #expect(try exported.json()["failed"] as? [String] == ["hidden", long])
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: tool.path("out")).sorted()
        == ["first", names[3], "zebra"])
  }

  @Test func aLostIndexIsNotMadeAnewOverItsFiles() throws {
    #expect(try tool.run(["files", "put", "dump"], input: large(100_000)).code == 0)
    #expect(try tool.run("files", "backup", tool.path("backup")).code == 0)
    try FileManager.default.removeItem(atPath: folder + "/index.vault")
    for command in [
      ["files", "init"], ["files", "list"], ["init", "--vault", folder + "/index.vault"],
    ] {
      let run = try tool.run(command)
      #expect(run.code == 12 && run.errors.contains("files restore"), "\(run.errors)")
    }
    #expect(try tool.run("files", "restore", tool.path("backup"), "--yes").code == 0)
    #expect(try tool.run("files", "get", "dump").output == large(100_000))
  }

  @Test func theIndexIsNotChangedByCommandsOfVaults() throws {
    #expect(try tool.run(["files", "put", "dump"], input: large(100_000)).code == 0)
    let place = ["--vault", folder + "/index.vault", "--key-file", tool.keyFile]
    let set = ["set", "dump"]
    let remove = ["remove", "dump"]
    let imported = ["import", "-", "--overwrite"]
    for command in [set, remove, imported] {
      let run = try tool.run(command + place, input: Data("{\"dump\": \"x\"}".utf8))
      #expect(run.code == 64 && run.errors.contains("commands of files"), "\(run.errors)")
    }
    #expect(try tool.run("files", "verify").code == 0)
    let rotated = try tool.run(["rotate", "--root", "--same-key"] + place)
    #expect(
      rotated.code == 0 && rotated.errors.contains("files rotate --resume"), "\(rotated.errors)")
    #expect(try tool.run("files", "put", "x", tool.path("absent")).code == 66)
  }

  @Test func aFolderIsMadeOnceAndOnlyByInit() throws {
    let (folder, key) = (tool.path("made"), tool.path("made.key"))
    let place = ["--folder", folder, "--key-file", key]
    let made = try tool.run(["files", "init", "--cipher", "chacha20-poly1305"] + place)
    #expect(made.code == 0, "\(made.errors)")
    #expect(try tool.run(["files", "init"] + place).code == 3)
    #expect(try tool.run(["files", "put", "dump"] + place, input: large(100)).code == 0)
    #expect(try tool.run(["files", "get", "dump"] + place).output == large(100))
    #expect(try tool.run(["files", "init", "--cipher", "xaes-256-gcm"] + place).code == 64)
  }

  @Test func aFolderThatIsNotThereIsNotMade() throws {
    let other = tool.path("other")
    for command in [["put", "a"], ["list"], ["verify"], ["rotate", "--same-key"]] {
      let run = try tool.run(["files"] + command + ["--folder", other, "--key-file", tool.keyFile])
      #expect(run.code == 69, "\(command): \(run.errors)")
    }
    #expect(!FileManager.default.fileExists(atPath: other))
    #expect(try tool.run("files", "lst").code == 64)
  }
}
