/// A position in the program's source.
package struct SourcePlace: Sendable, CustomStringConvertible {
  let fileID: StaticString
  let line: UInt

  /// A position as `#fileID` and `#line` give it.
  package init(_ fileID: StaticString, _ line: UInt) {
    (self.fileID, self.line) = (fileID, line)
  }

  package var description: String { "\(fileID):\(line)" }
}
