import Foundation
import TestSupport
import Testing

/// Files whose values another tool has encrypted or encoded.
struct EncodedTextTests {
  private static let sops = "ENC[AES256_GCM,data:hunter2,iv:aaa=,tag:bbb==,type:str]"

  @Test(
    arguments: Depth.cases(
      [
        ("dotenv", "A=\(sops)\nB=1\n", "sops", "A"),
        ("yaml", "a: {b: \"\(sops)\"}\nc: 1\n", "sops", "a"),
        ("json", "{\"a\": [{\"b\": \"\(sops)\"}]}", "sops", "a"),
        ("yaml", "a: ENC[PKCS7,hunter2==]\n", "hiera-eyaml", "a"),
        ("dotenv", "A=\"encrypted:Bhunter2Kx==\"\n", "dotenvx", "A"),
        ("yaml", "a: |\n  $ANSIBLE_VAULT;1.1;AES256\n  hunter2\n", "ansible-vault", "a"),
        ("dotenv", "A='$ANSIBLE_VAULT;1.1;AES256\nhunter2'\n", "ansible-vault", "A"),
        (
          "json", #"{"a": "-----BEGIN AGE ENCRYPTED FILE-----\nhunter2\n"}"#, "age", "a"
        ),
        ("dotenv", "A='-----BEGIN PGP MESSAGE-----\nhunter2'\n", "OpenPGP", "A"),
        ("yaml", "a: ENC(hunter2)\n", "Jasypt", "a"),
        ("yaml", "a: '{cipher}hunter2'\n", "Spring Cloud Config", "a"),
      ], day: 4))
  func textThatIsStillEncryptedIsNamed(
    _ format: String, _ text: String, _ name: String, _ key: String
  ) throws {
    let tool = try Tool()
    for options in [[], ["--nested", "--overwrite"]] {
      let result = try tool.run(
        ["import", "-", "--format", format] + options, input: Data(text.utf8))
      #expect(result.code == 0, "\(result.errors)")
      let warning = "warning: unsupported: standard input: still encrypted or encoded by \(name)"
      #expect(result.errors.contains(warning), "\(result.errors)")
      #expect(result.errors.contains("stored so: \(key)"), "\(result.errors)")
      #expect(!result.errors.contains("hunter2"))
    }
  }

  @Test(
    arguments: Depth.cases(
      [
        ("\0GITCRYPT\0hunter2", "git-crypt"), ("$ANSIBLE_VAULT;1.1;AES256\nx\n", "ansible-vault"),
        ("-----BEGIN AGE ENCRYPTED FILE-----\nhunter2\n", "age"),
        ("age-encryption.org/v1\n-> hunter2", "age"),
        ("\n-----BEGIN PGP MESSAGE-----\n\nhunter2\n", "OpenPGP"),
        ("Salted__hunter2", "openssl enc"),
      ], day: 2))
  func aFileThatIsEncryptedAsAWholeIsRefused(_ text: String, _ name: String) throws {
    let tool = try Tool()
    for format in ["dotenv", "json", "yaml"] {
      let result = try tool.run(
        ["import", "-", "--format", format], input: Data(text.utf8) + Data([0xFF]))
      #expect(result.code == 65)
      #expect(result.errors.contains("the file is encrypted by \(name)"), "\(result.errors)")
      #expect(!result.errors.contains("hunter2"))
    }
    #expect(try tool.run("list").text == "")
  }

  @Test func aTagOfAnsibleIsRefusedByItsTool() throws {
    let tool = try Tool()
    let text = "a: !vault |\n  $ANSIBLE_VAULT;1.1;AES256\n  hunter2\n"
    let result = try tool.run("import", "-", "--format", "yaml", input: text)
    #expect(result.code == 65 && result.errors.contains("ansible-vault"))
    #expect(result.errors.contains("line 1") && !result.errors.contains("hunter2"))
  }

  @Test(arguments: [
    ("dotenv", "A=encrypted: no\nB=ENC[x]\nC=age\nD='-----BEGIN PRIVATE KEY-----'\n"),
    ("yaml", "kind: Secret\ndata: {a: eA==}\n"),
  ])
  func ordinaryTextIsNotWarnedOf(_ format: String, _ text: String) throws {
    let tool = try Tool()
    let result = try tool.run("import", "-", "--format", format, input: text)
    #expect(result.code == 0 && !result.errors.contains("warning"), "\(result.errors)")
  }

  @Test func theWarningIsJSONOnRequestAndCountsNames() throws {
    let tool = try Tool()
    let text = (1...12).map { "A\($0)=\(Self.sops)\n" }.joined()
    let result = try tool.run("import", "-", "--json", input: text)
    #expect(result.errors.contains(#"{"warning":{"code":"unsupported""#))
    #expect(result.errors.contains("A10 and 2 more"))
    #expect(try tool.run("import", "-", "-q", "--keep", input: text).errors.contains("sops"))
  }
}
