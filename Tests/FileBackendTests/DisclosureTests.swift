import FileBackend
import Foundation
import TestSupport
import Testing

/// Every public type of the module, in use, shown in every way that Swift has: no key and no value
/// of it appears.
@Suite struct DisclosureTests {
  private let place = TemporarySealedFolder()
  private static let value = "VALUE-marker-one"
  private static let initial = "DEFAULT-marker-two"
  private static let keyText = "KEY-marker-ghijklmnopqrstuvwxyz."

  @Test func noPublicTypeShowsAKeyOrAValue() throws {
    let folder = place.folder(.key(SymmetricKey(data: Data(Self.keyText.utf8))))
    let long = Data(String(repeating: Self.value, count: 5000).utf8)
    try folder.write(long, named: "long")
    try folder.write(Data(Self.value.utf8), named: "short")
    var shown: [Any] = [folder, SealedFileCoding<Data>.bytes]
    for name in ["long", "short"] {
      let reader = try #require(try folder.reader(named: name))
      _ = try reader.read(0..<16)
      shown += [reader, reader.makeAsyncIterator()]
    }
    let writer = try folder.writer(named: "new")
    try writer.write(long)
    shown.append(writer)
    try folder.transaction { transaction in
      try transaction.write(long, named: "other")
      let said = Disclosure.texts(of: transaction).joined()
      #expect(!said.contains("marker"))
    }
    let states = folder.states(named: "short")
    shown += [states, states.makeAsyncIterator()]
    shown += [
      try #require(try folder.info(named: "long")), SealedFile<Data>("long", in: folder),
      SealedFile<Data>("long", in: folder).core, CodableSealedFile<String>("user", in: folder),
      UnwrappedSealedFile(wrappedValue: Self.initial, "absent", in: folder),
      UnwrappedCodableSealedFile(wrappedValue: [Self.initial], "absent", in: folder),
    ]
    let index = VaultStorage(
      at: place.url.appendingPathComponent("index.vault"),
      keySource: .key(SymmetricKey(data: Data(Self.keyText.utf8))))
    try index.save(Data([9] + Self.value.utf8), forKey: "newer")
    let backup = try folder.backup(to: place.file("copy"), leavingOutUnreadable: true)
    shown += [backup, try #require(backup.leftOut.first)]
    try index.delete(forKey: "newer")
    let blobs = place.url.appendingPathComponent("blobs")
    try Data([1]).write(to: blobs.appendingPathComponent(String(repeating: "0f", count: 16)))
    let report = try folder.verify()
    let finding = try #require(report.findings.first)
    shown += [report, finding, finding.kind]
    shown += [try folder.repair(accepting: report), try folder.rotate()]
    for item in shown {
      for text in Disclosure.texts(of: item) {
        for secret in [Self.value, Self.initial, Self.keyText] {
          #expect(!Disclosure.shows(Array(secret.utf8), in: text), "\(type(of: item))")
        }
      }
    }
    let types = Set(
      shown.map { String(reflecting: type(of: $0)).replacing(/<.*>/, with: "") }
        + ["FileBackend.SealedFolderTransaction"])
    #expect(try PublicTypes.names(ofModule: "FileBackend").subtracting(types) == [])
  }
}
