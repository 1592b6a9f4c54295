private import Foundation
private import Glibc

/// A file of `Name = value` lines as NIST's CAVP and the cryptography-vectors package write them.
package struct ResponseFile: Sendable {
  /// One test: its own fields, and those of the bracketed section it stands in.
  package struct Entry: Sendable {
    fileprivate(set) package var fields: [String: String]

    /// Whether a line `FAIL` says that the test must be refused.
    package var mustFail: Bool { fields["FAIL"] != nil }

    /// The text of a field.
    package func text(_ name: String) throws -> String {
      guard let value = fields[name] else { throw BadField(name: name) }
      return value
    }

    /// The number of a field.
    package func number(_ name: String) throws -> Int {
      guard let value = Int(try text(name)) else { throw BadField(name: name) }
      return value
    }

    /// The bytes of a field of hexadecimal digits.
    package func bytes(_ name: String) throws -> [UInt8] {
      guard let value = HexBytes(try text(name)) else { throw BadField(name: name) }
      return value.bytes
    }
  }

  /// A field that is missing, or not of its kind.
  package struct BadField: Error {
    let name: String
  }

  /// The tests, in order.
  package private(set) var entries: [Entry] = []

  private var section: [String: String] = [:]
  private let firstField: String

  /// Reads a file of the cryptography-vectors folder.
  ///
  /// - Parameters:
  ///   - file: the path inside the folder.
  ///   - firstField: the name of the field with which each test starts.
  /// - Throws: when the folder isn't named or the file can't be read.
  package init(_ file: String, firstField: String) throws {
    self.firstField = firstField
    let data = [UInt8](try VectorFolder.cryptography.contents(of: file))
    // By memchr(3): splitting millions of bytes by generic code is slow in a debug build.
    unsafe data.withUnsafeBytes { bytes in
      guard var start = bytes.baseAddress else { return }
      let end = unsafe start + bytes.count
      while unsafe start < end {
        let length = unsafe end - start
        let newline = unsafe memchr(start, 10, length).map { UnsafeRawPointer($0) } ?? end
        let line = unsafe UnsafeRawBufferPointer(start: start, count: newline - start)
        unsafe add(line: String(decoding: line, as: UTF8.self))
        unsafe start = newline + 1
      }
    }
  }

  private mutating func add(line: String) {
    var line = line.trimmingCharacters(in: .whitespacesAndNewlines)
    guard !line.isEmpty, !line.hasPrefix("#") else { return }
    let isSection = line.hasPrefix("[")
    if isSection { line = String(line.dropFirst().dropLast()) }
    let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    let name = parts[0].trimmingCharacters(in: .whitespaces)
    let value = parts.count > 1 ? parts[1].trimmingCharacters(in: .whitespaces) : ""
    if isSection {
      section[name] = value
    } else if name == firstField {
      entries.append(Entry(fields: section.merging([name: value]) { $1 }))
    } else if !entries.isEmpty {
      entries[entries.count - 1].fields[name] = value
    }
  }
}
