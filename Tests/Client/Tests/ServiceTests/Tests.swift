import InjectTesting
import SecurePropertyStorage
import Service
import StorageTesting
import Testing
import XCTest

@Suite(.storage()) struct InMemory {
  @Test(arguments: 0..<50) func launches(_ number: Int) throws {
    #expect(try Settings().launch() == 1)
    #expect(try Settings.shared.launch() == 2)
  }
}

@Suite(.storage(.temporaryFolder)) struct InAFolder {
  @Test(arguments: 0..<4) func launches(_ number: Int) throws {
    #expect(try Settings().launch() == 1)
    #expect(try Settings.shared.launch() == 2)
    #expect(try VaultStorage.standard.verify().isSound)
  }
}

final class CaseTests: StorageTestCase {
  func testOne() throws { XCTAssertEqual(try Settings().launch(), 1) }
  func testTwo() async throws { XCTAssertEqual(try Settings.shared.launch(), 1) }
}

@Suite struct Real {
  @Test func launches() throws { for _ in 0..<3 { _ = try Settings().launch() } }
}

protocol API: Sendable {}

@Suite(.injecting(.strict)) struct Strict {
  @UnwrappedInject private var api: any API
  init() throws { _ = try $api.resolve() }
  @Test func usesWhatNobodyRegistered() { _ = api }
  @Test func another() {}
}
