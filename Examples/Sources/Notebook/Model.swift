import Foundation

#if canImport(SecurePropertyStorage)
  import SecurePropertyStorage
#else
  import Singleton
  import UserDefault
#endif

/// A note as the app has had it since its first version.
struct Note: Codable, Equatable, Identifiable {
  var id = UUID()
  var title: String
  var text = ""
  var changed = Date()
}

/// What the user chose.
struct Preferences {
  @UnwrappedUserDefault("sort.ascending") var isAscending = true
  @UnwrappedUserDefault("font.size") var fontSize = 14.0
  @UserDefault("last.note") var lastNote: String?
}

/// Who uses the app.
struct Session {
  @Secret("session.token") var token: String?
  @CodableSecret("session.user") var user: User?
  /// Only while the program runs.
  @Singleton("session.unlocked") var isUnlocked: Bool?

  struct User: Codable, Equatable { var name, mail: String }

  var isSignedIn: Bool { token != nil }

  func signOut() {
    token = nil
    user = nil
    isUnlocked = nil
  }
}

/// The user's notes.
struct Notebook {
  @CodableSecret("notes") private var notes: [Note]?
  private let preferences = Preferences()

  /// The notes as the user chose to see them.
  var sorted: [Note] {
    let all = notes ?? []
    return all.sorted {
      preferences.isAscending ? $0.title < $1.title : $0.title > $1.title
    }
  }

  func add(_ note: Note) {
    notes = (notes ?? []) + [note]
    preferences.lastNote = note.id.uuidString
  }

  func remove(_ id: Note.ID) {
    notes = (notes ?? []).filter { $0.id != id }
    if preferences.lastNote == id.uuidString { preferences.lastNote = nil }
  }
}
