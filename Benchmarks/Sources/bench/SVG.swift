/// Parts of a drawing that all plots share.
enum SVG {
  /// A line of text at a place; `anchor` says which end of it is there.
  static func text(
    _ text: String, _ x: Double, _ y: Double, _ anchor: String, size: Int = 12,
    weight: String = "normal", color: String = "#333"
  ) -> String {
    "<text x=\"\(shown(x, 1))\" y=\"\(shown(y, 1))\" text-anchor=\"\(anchor)\" "
      + "font-size=\"\(size)\" font-weight=\"\(weight)\" fill=\"\(color)\">\(text)</text>"
  }
}
