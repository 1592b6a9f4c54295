import CryptoCore
import Foundation
import StorageCore
import TestSupport

/// A program that keeps typed values in one place of LocalData; each call is a process of its own,
/// which remembers nothing of the copies before.
struct RouterProgram: LeakedProgram {
  private static let helper = HelperProgram("LocalDataTestChild")

  let folder: URL
  let key: SymmetricKey
  /// The name of the place; `LeakChild` says which they are.
  let place: String

  func save(_ value: String, _ name: String) throws {
    let answer = try run(["save", name, value])
    guard answer == ["saved"] else { throw StorageError(.io, "\(answer)") }
  }

  func load(_ names: [String]) throws -> [String: String] {
    var values: [String: String] = [:]
    for line in try run(["load"] + names) {
      let parts = line.split(separator: "=", maxSplits: 1).map(String.init)
      if parts.count == 2 { values[parts[0]] = parts[1] }
    }
    return values
  }

  func rotate(to new: SymmetricKey, names: Bool) throws {
    let answer = try run(["rotate", Self.digit(of: new), names ? "names" : "-"])
    guard answer == ["rotated"] else { throw StorageError(.io, "\(answer)") }
  }

  private func run(_ arguments: [String]) throws -> [String] {
    try Self.helper.start(["leak", folder.path, place, Self.digit(of: key)] + arguments).lines()
  }

  /// The byte that a test's key repeats.
  private static func digit(of key: SymmetricKey) -> String {
    [Leak.oldKey, Leak.newKey].firstIndex(of: key).map { $0 == 0 ? "7" : "9" } ?? "11"
  }
}
