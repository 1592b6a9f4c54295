import Foundation
import StorageCore

@testable import DefaultsBackend

extension Target {
  /// The file of a suite.
  ///
  /// Every input is read as the reader of suites does, and what it takes by Foundation too. One in
  /// sixteen is put in the place of a file, and read and written there.
  static let propertyList = Target(
    name: "property-list",
    seeds: {
      try [0, 1, 20].map { count in
        let lists = try PropertyLists()
        try PrivateFolder.fill(lists.suite, count)
        return try PrivateFolder.read(lists.path)
      }
    },
    make: {
      let lists = try PropertyLists()
      return { input in
        if let contents = try taking({ try SuiteContents(reading: input) }) {
          try PropertyLists.compare(contents, input)
        }
        if isPicked(input, oneIn: 16) { try lists.use(input) }
      }
    })
}

private struct PropertyLists {
  let suite: UserDefaultsStorage
  let path: String

  init() throws {
    let name = UUID().uuidString
    suite = UserDefaultsStorage(suiteName: name, keySource: .key(Sample.key))
    path = try PrivateFolder.path("XDG_CONFIG_HOME") + "/\(name).secure.plist"
  }

  /// Compares what was read of a list with what is written of it, and with what Foundation reads.
  static func compare(_ contents: SuiteContents, _ input: [UInt8]) throws {
    guard try SuiteContents(reading: contents.propertyList()) == contents else {
      finding("a list that was written is read as another one")
    }
    // Foundation reads what this reader reads; the other way round it need not be.
    let list = try unsafe PropertyListSerialization.propertyList(from: Data(input), format: nil)
    guard let values = list as? [String: Data],
      values.count == contents.records.count + (contents.header == nil ? 0 : 1),
      values["SecurePropertyStorage"] == contents.header.map({ Data($0) })
    else { finding("Foundation reads another list") }
  }

  /// Reads and writes a suite whose file the input is.
  func use(_ input: [UInt8]) throws {
    try PrivateFolder.write(input, to: path)
    guard try !PrivateFolder.use(suite) else { return }
    guard try PrivateFolder.read(path) == input else {
      finding("a file that was refused was replaced")
    }
  }
}
