internal import ArgumentParser
internal import CryptoCore
internal import StorageCore

/// Changes a value in an editor.
struct EditCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "edit", abstract: "Change a value in the editor of $VISUAL or $EDITOR.",
    discussion: """
      The editor gets a file in memory that only its owner can read, in a folder of its own. The file is \
      overwritten and removed when the editor ends. Nothing is stored if the editor fails, if the text is \
      the same, or if another program changed the value meanwhile. The value keeps its type, as with set. \
      Tell the editor not to copy the text elsewhere: vim -n -i NONE, for example.
      """)

  @Argument(help: "The name of the value.", completion: ValueName.completion) var name: String

  @OptionGroup(title: "Store") var store: StoreOptions
  @OptionGroup(title: "Key") var key: KeyOptions
  @OptionGroup(title: "Output") var output: OutputOptions

  func run() throws {
    guard let editor = Environment.value("VISUAL") ?? Environment.value("EDITOR") else {
      throw Failure(.usage, "set VISUAL or EDITOR to the editor to use, for example EDITOR=nano")
    }
    let place = try store.place()
    let storage = try place.values(key)
    let before = try storage.transaction { try $0.exactValue(forKey: name) }
    guard let before, let old = try StoredValue(name, in: storage) else {
      throw ValueName.absent(name, in: storage)
    }
    guard !old.isBinary else {
      throw Failure(
        .unsupported, "the value is data, which an editor would change; use get and set", key: name)
    }
    let text = old.bytes
    let keys = try place.traces(key)
    let edited = try EditedFile.edit(text, with: editor, without: keys.variables)
    // Editors end the last line; only a text that had a line break at its end keeps it.
    let line = text.last == UInt8(ascii: "\n") ? edited : try edited.withoutLineBreak()
    guard line.array != text else { return try answer("\(name) was not changed", nil) }
    guard line.count > 0 else {
      throw Failure(
        .malformedInput,
        "the edited value is empty, and nothing was changed; to store it, use set "
          + "--allow-empty", key: name)
    }
    let form = try storage.transaction { transaction in
      guard try transaction.exactValue(forKey: name) == before else {
        throw Failure(
          .exists,
          "another program changed the value meanwhile, and nothing was stored; edit it again",
          key: name)
      }
      do {
        let value = try transaction.newValue(.bytes(edited, text: line), forKey: name, as: nil)
        try transaction.save(value, forKey: name)
        return try transaction.form(of: name)
      } catch let mismatch as StorageTransaction.Mismatch {
        throw Failure(
          .typeMismatch,
          "the value is stored as \(mismatch.stored), and the edited text does not convert exactly to "
            + "\(mismatch.stored); nothing was changed", key: name)
      }
    }
    try answer("stored \(name) \(form)", form)
  }

  private func answer(_ text: String, _ form: StoredForm?) throws {
    try output.output.done(
      text, (["name": name, "stored": form != nil] as JSONValue).with(form?.json ?? [:]))
  }
}
