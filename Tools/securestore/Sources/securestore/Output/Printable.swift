extension [String] {
  /// The elements in the order of their bytes.
  var sortedByBytes: [String] { sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) } }

  /// The first ten, and how many more there are.
  var listed: String {
    prefix(10).joined(separator: ", ") + (count > 10 ? " and \(count - 10) more" : "")
  }

  /// The elements without repetitions, compared by their bytes: names that Swift takes for equal
  /// may differ.
  var withoutRepetition: [String] {
    var seen: Set<[UInt8]> = []
    return filter { seen.insert([UInt8]($0.utf8)).inserted }
  }
}

extension String {
  /// Whether both texts have the same bytes.
  ///
  /// Swift's `==` also takes different bytes for equal: an accented letter in one code point or in
  /// two. For a store and for a file system they are two names.
  func isExactly(_ other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}

/// Text in a form that is safe to show on a terminal.
enum Printable {
  /// The text with a `?` for each character that ends a line or controls a terminal.
  static func line(_ text: String) -> String {
    var shown = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      switch scalar.properties.generalCategory {
      case .control, .lineSeparator, .paragraphSeparator, .format: shown.append("?")
      default: shown.append(scalar)
      }
    }
    return String(shown)
  }

  /// A number with its noun, which gets an s unless the number is 1.
  static func count(_ count: Int, _ noun: String) -> String {
    "\(count) \(noun)\(count == 1 ? "" : "s")"
  }

  /// A number of bytes for people.
  static func bytes(_ count: Int) -> String {
    guard count >= 1 << 10 else { return "\(count) B" }
    let (shift, unit) =
      count < 1 << 20 ? (10, "KiB") : count < 1 << 30 ? (20, "MiB") : (30, "GiB")
    // A shift binds more closely than a product.
    let tenths = ((count >> (shift - 10)) * 10) >> 10
    return "\(tenths / 10).\(tenths % 10) \(unit)"
  }

  /// Columns of equal width, two spaces apart.
  static func table(_ rows: [[String]]) -> [String] {
    let widths = (0..<(rows.map(\.count).max() ?? 0)).map { column in
      rows.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0
    }
    return rows.map { row in
      row.enumerated().map { column, cell in
        column == row.count - 1
          ? cell : cell + String(repeating: " ", count: widths[column] - cell.count + 2)
      }.joined()
    }
  }
}
