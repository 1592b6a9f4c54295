/// Finds the names that somebody may have meant.
enum Nearness {
  /// The names nearest to the typed one: at most three, nearest first.
  static func names(_ typed: String, in names: [String]) -> [String] {
    let near = names.compactMap { name -> (name: String, distance: Int)? in
      guard typed.utf8.count <= 2 * name.utf8.count, typed.utf8.count <= 256 else { return nil }
      let distance = distance(typed.lowercased(), name.lowercased())
      return distance <= (name.count < 5 ? 1 : 2) ? (name, distance) : nil
    }
    return near.sorted { ($0.distance, $0.name) < ($1.distance, $1.name) }.prefix(3).map(\.name)
  }

  /// How many characters must be inserted, removed or replaced: Levenshtein's distance.
  static func distance(_ left: String, _ right: String) -> Int {
    let right = Array(right)
    var row = Array(0...right.count)
    for (line, character) in left.enumerated() {
      var diagonal = row[0]
      row[0] = line + 1
      for (column, other) in right.enumerated() {
        let replaced = diagonal + (character == other ? 0 : 1)
        diagonal = row[column + 1]
        row[column + 1] = min(replaced, diagonal + 1, row[column] + 1)
      }
    }
    return row[right.count]
  }

  /// The question behind a message; empty if no name is near.
  static func question(_ near: [String]) -> String {
    near.isEmpty ? "" : "; did you mean \(near.joined(separator: " or "))?"
  }
}
