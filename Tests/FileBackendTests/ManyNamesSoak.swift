import FileBackend
import Foundation
import TestSupport
import Testing

/// Folders with many names.
@Suite(.enabled(if: Soak.isOn)) struct ManyNamesSoak {
  private let place = TemporarySealedFolder()

  private func fill(_ count: Int) throws {
    let folder = place.folder()
    for start in stride(from: 0, to: count, by: 1000) {
      try folder.transaction { transaction in
        for index in start..<start + 1000 {
          try transaction.write(Data("\(index)".utf8), named: "name \(index)")
        }
      }
    }
    for index in 0..<20 {
      try folder.write(pattern(20_000, UInt64(index)), named: "large \(index)")
    }
  }

  @Test func aHundredThousandNamesAreListedSweptAndVerified() throws {
    try fill(100_000)
    let child = try helper.start(["hold-writer", place.path, "left", "5", "300000"])
    child.waitUntilItSpeaks()
    child.kill()
    _ = try child.lines()
    #expect(place.blobs.count == 21)
    let folder = place.folder()
    try folder.open()
    #expect(place.blobs.count == 20 && place.pending == [])
    #expect(try folder.names().count == 100_020)
    #expect(try folder.read(named: "name 77777") == Data("77777".utf8))
    try folder.write(pattern(30_000), named: "name 77777")
    let report = try folder.verify()
    #expect(report.isSound && report.nameCount == 100_020 && report.blobCount == 21)
  }
}
