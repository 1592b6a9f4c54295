/// A place in source code: where a dependency is registered, or where it is injected.
public struct InjectLocation: Sendable, Hashable, CustomStringConvertible {
  package let file: StaticString
  /// The line, from 1.
  public let line: UInt
  /// The column, from 1.
  public let column: UInt

  /// A place, as `#fileID`, `#line` and `#column` give it.
  public init(fileID: StaticString, line: UInt, column: UInt) {
    file = fileID
    self.line = line
    self.column = column
  }

  /// The file as `Module/File.swift`, which is the same on every machine.
  public var fileID: String { file.description }

  /// `Module/File.swift:12:4`.
  public var description: String { "\(file):\(line):\(column)" }

  /// Whether both are the same place.
  public static func == (left: InjectLocation, right: InjectLocation) -> Bool {
    left.line == right.line && left.column == right.column && left.fileID == right.fileID
  }

  /// Hashes the place.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(line)
    hasher.combine(column)
    hasher.combine(fileID)
  }
}
