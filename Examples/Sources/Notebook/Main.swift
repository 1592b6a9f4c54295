import Foundation

#if canImport(SecurePropertyStorage)
  import SecurePropertyStorage
#endif

/// The app's model layer in a program without a screen: `Notebook add TITLE`, `Notebook list`.
@main
struct Main {
  static func main() {
    #if canImport(SecurePropertyStorage)
      SecureStorage.bootstrap(applicationID: "org.example.notebook")
    #endif
    let arguments = Array(CommandLine.arguments.dropFirst())
    let notebook = Notebook()
    switch (arguments.first, arguments.count) {
    case ("add", 2): notebook.add(Note(title: arguments[1]))
    case ("list", 1): for note in notebook.sorted { print(note.title) }
    default:
      FileHandle.standardError.write(Data("usage: Notebook add TITLE | list\n".utf8))
      exit(64)
    }
  }
}
