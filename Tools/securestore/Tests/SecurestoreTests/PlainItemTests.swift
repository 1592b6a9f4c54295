import Foundation
import KeyringTesting
import StorageCore
import Testing

/// Plain items of the keyring, which secret-tool has, too.
struct PlainItemTests {
  @Test func whatIsSetIsWhatSecretToolFindsAndTheOtherWayRound() throws {
    let tool = try Session().tool()
    let set = try tool.run(
      "keyring", "set", "github.token", "ada", "--label", "GitHub", input: "s3cret\n")
    #expect(set.code == 0, "\(set.errors)")
    #expect(!set.errors.contains("s3cret"))
    let found = try tool.shell("secret-tool lookup service github.token account ada")
    #expect(found.text == "s3cret")
    #expect(try tool.run("keyring", "get", "github.token", "ada").text == "s3cret")
    _ = try tool.shell("printf other | secret-tool store --label x service mail account bob")
    #expect(try tool.run("keyring", "get", "mail").text == "other")
    let json = try tool.run("keyring", "get", "mail", "bob", "--json").json()
    #expect(json["secret"] as? String == "other" && json["encoding"] as? String == "utf-8")
  }

  @Test func aSecretIsReplacedAndItsLabelStays() throws {
    let tool = try Session().tool()
    _ = try tool.run("keyring", "set", "svc", "ada", "--label", "Mine", input: "one")
    #expect(try tool.run("keyring", "set", "svc", "ada", input: "two").code == 0)
    #expect(try tool.run("keyring", "get", "svc", "ada").text == "two")
    let items = try tool.run("keyring", "list", "svc", "--json").json()["items"] as? [[String: Any]]
    #expect(items?.count == 1)
    #expect(items?.first?["label"] as? String == "Mine")
    #expect(items?.first?["account"] as? String == "ada")
  }

  @Test func bytesAreKeptAsTheyAre() throws {
    let tool = try Session().tool()
    for option in ["", "--raw"] {
      let raw = try tool.shell(
        "printf '\\377\\000\\n' | \"$0\" keyring set svc bytes \(option) "
          + "&& \"$0\" keyring get svc bytes | od -An -tx1")
      #expect(
        raw.text.split(separator: " ").joined().hasPrefix("ff000a"), "\(raw.text) \(raw.errors)")
    }
    let json = try tool.run("keyring", "get", "svc", "bytes", "--json").json()
    #expect(json["secret"] as? String == "/wAK" && json["encoding"] as? String == "base64")
  }

  @Test func theListShowsNoSecret() throws {
    let tool = try Session().tool()
    _ = try tool.run("keyring", "set", "b.service", "me", input: "hunter2")
    _ = try tool.run("keyring", "set", "a.service", "you", "--label", "A thing", input: "hunter3")
    let list = try tool.run("keyring", "list")
    #expect(list.code == 0)
    #expect(!list.text.contains("hunter"))
    let lines = list.text.split(separator: "\n").map(String.init)
    #expect(lines.map { $0.prefix(9) } == ["a.service", "b.service"])
    #expect(lines[0].contains("you") && lines[0].contains("A thing"))
    #expect(try tool.run("keyring", "list", "absent").text.isEmpty)
  }

  @Test func severalItemsAreNoCoinToss() throws {
    let tool = try Session().tool()
    _ = try tool.run("keyring", "set", "svc", "ada", input: "one")
    _ = try tool.run("keyring", "set", "svc", "bob", input: "two")
    let get = try tool.run("keyring", "get", "svc")
    #expect(get.code == 23 && get.text.isEmpty)
    #expect(get.errors.contains("account ada") && get.errors.contains("account bob"))
    #expect(try tool.run("keyring", "remove", "svc").code == 23)
    #expect(try tool.run("keyring", "get", "svc", "bob").text == "two")
    #expect(try tool.run("keyring", "remove", "svc", "bob").code == 0)
    #expect(try tool.run("keyring", "get", "svc").text == "one")
  }

  /// A search for one attribute finds items that differ in another; libsecret makes both.
  private func makeTwins(_ tool: Tool) throws {
    for (number, secret) in ["1": "old-s3cret", "2": "new-s3cret"].sorted(by: { $0.key < $1.key }) {
      _ = try tool.shell(
        "printf \(secret) | secret-tool store --label 'Login \(number)' service svc account ada "
          + "number \(number)")
    }
  }

  @Test func duplicatesAreListedWithWhatTellsThemApartAndOneIsRemoved() throws {
    let tool = try Session().tool()
    try makeTwins(tool)
    for command in [["get"], ["remove"], ["set"]] {
      let refused = try tool.run(["keyring"] + command + ["svc", "ada"], input: Data("other".utf8))
      #expect(refused.code == 23 && refused.text.isEmpty)
      #expect(!refused.errors.contains("s3cret"))
      let lines = refused.errors.split(separator: "\n").map(String.init)
      #expect(lines.count == 3 && lines[2].contains("--item ID"))
      for number in ["1", "2"] {
        let line = try #require(lines.first { $0.contains("label \"Login \(number)\"") })
        #expect(line.contains("number=\(number)") && line.contains("made 20"))
      }
    }
    let refused = try tool.run("keyring", "get", "svc", "ada", "--json")
    let data = try #require(refused.errors.data(using: .utf8))
    let json = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    let choices = try #require((json["error"] as? [String: Any])?["choices"] as? [[String: Any]])
    #expect(choices.count == 2)
    func id(_ number: String) throws -> String {
      let choice = choices.first { ($0["attributes"] as? [String: String])?["number"] == number }
      return try #require(choice?["id"] as? String)
    }
    let (old, new) = (try id("1"), try id("2"))
    #expect(old != new)
    #expect(try tool.run("keyring", "get", "svc", "ada", "--item", old).text == "old-s3cret")
    #expect(try tool.run("keyring", "set", "svc", "ada", "--item", old, input: "third").code == 0)
    #expect(try tool.run("keyring", "get", "svc", "--item", old).text == "third")
    // The id of another service's item is no item of this one.
    #expect(try tool.run("keyring", "remove", "other", "--item", old).code == 1)
    #expect(try tool.run("keyring", "set", "svc", "ada", "--item", "x/99", input: "n").code != 0)
    #expect(try tool.run("keyring", "remove", "svc", "ada", "--item", old).code == 0)
    #expect(try tool.run("keyring", "remove", "svc", "ada", "--item", old).code == 1)
    #expect(try tool.run("keyring", "get", "svc", "ada").text == "new-s3cret")
  }

  /// gnome-keyring loses an unencrypted keyring that holds a text of several lines.
  @Test func severalLinesAreRefusedForAKeyringWithoutAPasswordBeforeItIsLost() throws {
    let session = try Session()
    let tool = try session.tool()
    tool.environment["XDG_DATA_HOME"] = session.keyring.dataFolder
    #expect(try !tool.run("doctor").text.contains("keyring file"))
    let keyring = "[keyring]\ndisplay-name=Login\nctime=0\nmtime=0\nlock-on-idle=false\n"
    let file = session.keyring.dataFolder + "/keyrings/login.keyring"
    try keyring.write(toFile: file, atomically: true, encoding: .utf8)
    let lines = "first-s3cret\nsecond-s3cret\n"
    for options in [[], ["--group", "login"]] {
      let refused = try tool.run(
        ["keyring", "set", "svc", "ada"] + options, input: Data(lines.utf8))
      #expect(refused.code == 18, "\(refused.errors)")
      #expect(refused.errors.contains("has no password") && !refused.errors.contains("s3cret"))
    }
    let doctor = try tool.run("doctor")
    #expect(doctor.text.contains("keyring file") && doctor.text.contains("text of several lines"))
  }

  @Test func severalLinesAreStoredInAnEncryptedKeyring() throws {
    let session = try Session()
    let tool = try session.tool()
    tool.environment["XDG_DATA_HOME"] = session.keyring.dataFolder
    #expect(try tool.run("keyring", "set", "svc", "ada", input: "one\ntwo\n").code == 0)
    #expect(try tool.run("keyring", "get", "svc", "ada").text == "one\ntwo")
    #expect(try !tool.run("doctor").text.contains("keyring file"))
  }

  @Test func whatIsAbsentExitsWithOne() throws {
    let tool = try Session().tool()
    #expect(try tool.run("keyring", "get", "svc", "ada").code == 1)
    #expect(try tool.run("keyring", "remove", "svc", "ada").code == 1)
    #expect(try tool.run("keyring", "remove", "svc", "ada", "--force").code == 0)
  }

  @Test func aSecretIsNeverAnArgument() throws {
    let tool = try Session().tool()
    let refused = try tool.run("keyring", "set", "svc", "ada", "hunter2", input: "x")
    #expect(refused.code == 64 && !refused.errors.contains("hunter2"))
    let joined = try tool.run("keyring", "set", "svc", "ada=hunter2", input: "x")
    #expect(joined.code == 64 && !joined.errors.contains("hunter2"))
    #expect(try tool.run("keyring", "set", "svc", "ada", input: "").code == 65)
    #expect(try tool.run("keyring", "get", "svc").code == 1)
  }

  @Test func whatAnApplicationSealedIsNotShown() throws {
    let session = try Session()
    let tool = try session.tool()
    try session.keychain("com.example.sealed").save("hunter2", forKey: "password")
    let list = try tool.run("keyring", "list")
    #expect(!list.text.contains("com.example.sealed"))
    #expect(try tool.run("keyring", "get", "com.example.sealed").code == 1)
    _ = try tool.shell(
      "printf x | secret-tool store --label x service svc account sealed sps:sealed device")
    #expect(try tool.run("keyring", "get", "svc", "sealed").code == 13)
  }

  @Test func aLockedKeyringAndAMissingOneAreSaid() throws {
    let session = try Session()
    let tool = try session.tool()
    _ = try tool.run("keyring", "set", "svc", "ada", input: "one")
    try session.keyring.lock()
    #expect(try tool.run("keyring", "get", "svc", "ada").code == 14)
    #expect(try tool.run("keyring", "set", "svc", "ada", input: "two").code == 14)
    session.keyring.kill()
    #expect(try tool.run("keyring", "get", "svc", "ada").code == 21)
    #expect(try Tool(hasVault: false).run("keyring", "list").code == 20)
  }
}
