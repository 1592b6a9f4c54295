internal import StorageCore

internal import struct FoundationEssentials.Data

extension Migrator {
  /// The bytes to store for a serialized value, after a test that they open again.
  ///
  /// In one place they replace the only value; the test also detects a mistyped passcode.
  func sealed(_ new: Data, _ destination: MigrationEnd) async throws(StorageError) -> Data {
    let sealed = try await destination.seal(new)
    guard try await destination.open(sealed) == new else {
      throw StorageError(
        .damaged, "the sealed bytes do not open to the same value; nothing was moved")
    }
    return sealed
  }

  /// Whether all conditions of a migration hold.
  func isWanted(_ work: Work) async throws(StorageError) -> Bool {
    for condition in work.conditions {
      do {
        guard try await condition() else { return false }
      } catch {
        throw Self.failure(error, "the condition")
      }
    }
    return true
  }

  /// The serialized value that the sources' values make; nil if they make none.
  func produced(
    _ work: Work, _ sources: [Data?]
  ) async throws(StorageError) -> Data? {
    var serialized: [Data?] = []
    for (source, stored) in zip(work.sources, sources) {
      guard let stored else {
        serialized.append(nil)
        continue
      }
      serialized.append(try await source.open(stored))
    }
    let values = serialized
    do {
      let new = try work.produce(values)
      if let new { try work.destination.check(new) }
      return new
    } catch {
      throw Self.failure(error, "the transformation")
    }
  }
}
