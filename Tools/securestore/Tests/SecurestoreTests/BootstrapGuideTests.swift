import ArgumentParser
import Foundation
import StorageCore
import Testing

// MARK: - The code of the guide "Choosing a key source" for a command of ArgumentParser

struct Courier: ParsableCommand {
  static let configuration = CommandConfiguration(subcommands: [Login.self])

  static func main() {
    SecureStorage.bootstrap(applicationID: "com.example.tool")
    main(nil)  // parses the command line, and runs the command
  }
}

struct AsyncCourier: AsyncParsableCommand {
  static func main() async {
    SecureStorage.bootstrap(applicationID: "com.example.tool")
    await main(nil)
  }
}

struct Login: ParsableCommand {}

struct BootstrapGuideTests {
  @Test func theGuideShowsTheCodeThatIsCompiledHere() throws {
    let file = URL(fileURLWithPath: #filePath)
    let root = (0..<5).reduce(file) { folder, _ in folder.deletingLastPathComponent() }
    let page = "Sources/StorageCore/StorageCore.docc/ChoosingAKeySource.md"
    let guide = try String(contentsOf: root.appendingPathComponent(page), encoding: .utf8)
    let code = try String(contentsOf: file, encoding: .utf8)
    let blocks = guide.components(separatedBy: "```swift\n").dropFirst()
      .map { $0.components(separatedBy: "```")[0] }.filter { $0.contains("ParsableCommand") }
    #expect(blocks.count == 1)
    for block in blocks { #expect(code.contains(block.dropFirst("@main\n".count))) }
    #expect(guide.contains("static func main() async") && guide.contains("await main(nil)"))
  }
}
