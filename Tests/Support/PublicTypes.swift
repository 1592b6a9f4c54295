private import Foundation

/// The public types of a module, as its source files declare them.
package enum PublicTypes {
  /// The names of all of them, as `String(reflecting:)` gives them: module and outer types first.
  ///
  /// It goes by the indentation, which `make lint` keeps.
  package static func names(
    ofModule module: String, testFile: String = #filePath
  ) throws -> Set<String> {
    var root = URL(fileURLWithPath: testFile).deletingLastPathComponent()
    while root.path != "/",
      !FileManager.default.fileExists(atPath: root.appendingPathComponent("Package.swift").path)
    { root.deleteLastPathComponent() }
    let folder = root.appendingPathComponent("Sources/" + module)
    var names: Set<String> = []
    let files = FileManager.default.enumerator(atPath: folder.path)
    for case let file as String in files ?? .init() where file.hasSuffix(".swift") {
      let text = try String(contentsOf: folder.appendingPathComponent(file), encoding: .utf8)
      names.formUnion(declared(in: text).map { "\(module).\($0)" })
    }
    return names
  }

  private static func declared(in text: String) -> [String] {
    let declaration =
      /^( *)(?:@\w+(?:\([^)]*\))? )*((?:\w+ )*)(struct|class|enum|actor|extension) ([\w.]+)/
    var outer: [(indentation: Int, name: String)] = []
    var names: [String] = []
    for line in text.split(separator: "\n") {
      guard let match = line.firstMatch(of: declaration) else { continue }
      let indentation = match.1.count
      outer.removeAll { $0.indentation >= indentation }
      outer.append((indentation, String(match.4)))
      let isPublic = match.2.split(separator: " ").contains { $0 == "public" || $0 == "open" }
      guard isPublic, match.3 != "extension", !match.2.contains("import ") else { continue }
      names.append(outer.map(\.name).joined(separator: "."))
    }
    return names
  }
}
