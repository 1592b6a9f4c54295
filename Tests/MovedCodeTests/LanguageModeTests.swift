import Foundation
import Testing

#if !swift(>=6)
  #error("this target is built in Swift 6 mode")
#endif

@Suite struct LanguageModeTests {
  @Test func bothModesHaveTheSameSamples() throws {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    let (here, there) = (
      try FileManager.default.contentsOfDirectory(atPath: folder.path),
      try FileManager.default.contentsOfDirectory(
        atPath: folder.deletingLastPathComponent().path + "/MovedCodeSwift5Tests")
    )
    #expect(Set(here).subtracting(there) == ["LanguageModeTests.swift"])
    #expect(Set(there).subtracting(here) == ["Swift5Tests.swift"])
  }
}
