import CryptoCore
import Foundation
import Glibc
import KeyringTesting
import SingletonBackend
import StorageCore
import Testing

@testable import KeyringBackend

/// A bus that refuses this program is not an absent bus: nothing moves to a weaker place.
struct RefusingBusTests {
  private let bus: RefusingBus
  private let access: KeyringAccess

  init() throws {
    bus = try RefusingBus()
    access = KeyringAccess(bus: bus.address)
  }

  @Test func itIsDenied() {
    let storage = KeychainStorage(service: "refused", access: access)
    #expect(code { _ = try storage.load(String.self, forKey: "x") } == .denied)
    #expect(code { try storage.save("value", forKey: "x") } == .denied)
  }

  @Test func aKeyOfTheDesktopIsNotTakenFromTheNextSource() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appendingPathComponent("key")
    let storage = DelegatedStorage(
      SingletonStorageDelegate(),
      keySource: .firstAvailable([.keyring("app", access: access), .file(file)]))
    #expect(code { try storage.save("value", forKey: "x") } == .denied)
    #expect(!FileManager.default.fileExists(atPath: file.path))
  }
}

/// A socket that answers as a bus which knows the program and refuses it.
private final class RefusingBus: Sendable {
  private let listener: Int32
  private let path: String

  var address: String { "unix:path=\(path)" }

  init() throws {
    path = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
    listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    var name = sockaddr_un()
    name.sun_family = sa_family_t(AF_UNIX)
    unsafe withUnsafeMutableBytes(of: &name.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
    let isBound = unsafe withUnsafePointer(to: &name) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
      }
    }
    try #require(isBound && listen(listener, 8) == 0)
    Thread.detachNewThread { [listener] in Self.refuse(on: listener) }
  }

  deinit {
    shutdown(listener, Int32(SHUT_RDWR))
    close(listener)
    unsafe unlink(path)
  }

  /// Refuses each client, until the listener is closed.
  private static func refuse(on listener: Int32) {
    while true {
      let client = accept(listener, nil, nil)
      guard client >= 0 else { return }
      Thread.detachNewThread { refuse(client: client) }
    }
  }

  /// Refuses each way to authenticate that a client offers.
  private static func refuse(client: Int32) {
    defer { close(client) }
    var bytes = [UInt8](repeating: 0, count: 1024)
    let answer = Array("REJECTED EXTERNAL\r\n".utf8)
    while unsafe read(client, &bytes, bytes.count) > 0 {
      guard unsafe send(client, answer, answer.count, Int32(MSG_NOSIGNAL)) > 0 else { return }
    }
  }
}
