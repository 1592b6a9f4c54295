import SecurePropertyStorage
import StorageTesting
import Testing

@testable import Notebook

/// The model layer's tests, as the app has them.
///
/// Each has its own storages, in memory.
@Suite(.storage()) struct NotebookTests {
  @Test func notesAreSortedAsTheUserChose() {
    let notebook = Notebook()
    for title in ["pears", "apples"] { notebook.add(Note(title: title)) }
    #expect(notebook.sorted.map(\.title) == ["apples", "pears"])
    Preferences().isAscending = false
    #expect(Notebook().sorted.map(\.title) == ["pears", "apples"])
  }

  @Test func aRemovedNoteIsNotTheLastOneAnyMore() {
    let (notebook, note) = (Notebook(), Note(title: "apples"))
    notebook.add(note)
    #expect(Preferences().lastNote == note.id.uuidString)
    notebook.remove(note.id)
    #expect(notebook.sorted.isEmpty && Preferences().lastNote == nil)
  }

  @Test func afterSigningOutNothingOfTheUserIsLeft() throws {
    let session = Session()
    session.token = "tok-1"
    session.user = Session.User(name: "Ada", mail: "ada@example.org")
    session.isUnlocked = true
    #expect(Session().isSignedIn)
    session.signOut()
    #expect(!Session().isSignedIn && Session().user == nil && Session().isUnlocked == nil)
    #expect(try VaultStorage.standard.keys().isEmpty)
  }
}
