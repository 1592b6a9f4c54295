import InjectTesting
import SecurePropertyStorage
import StorageTesting
import Testing

@testable import Cashier

/// A payment service that always succeeds, and records the charged amounts.
private actor TestPayments: PaymentClient {
  private(set) var charged: [Int] = []

  func charge(cents: Int, token: String) throws -> String {
    charged.append(cents)
    return "test receipt"
  }
}

/// Each test has its own storages and payments, and cannot use any others: `.strict`.
@Suite(
  .injecting(.strict) {
    @Register var payments = { TestPayments() }
    @Register var client = {
      try InjectStorage.standard.resolve(TestPayments.self) as any PaymentClient
    }
    @Register var faulty = { FaultyStorage() }
    @Register var storage = {
      try InjectStorage.standard.resolve(FaultyStorage.self) as DelegatedStorage
    }
    @Register var till = { Till(in: try InjectStorage.standard.resolve()) }
  })
struct CashierTests {
  @UnwrappedInject private var payments: TestPayments
  @UnwrappedInject private var storage: FaultyStorage
  private let cashier = Cashier()

  @Test func aSaleIsChargedAndBooked() async throws {
    try cashier.till.$token.save("token")
    #expect(try await cashier.sell(cents: 100) == "test receipt")
    #expect(await payments.charged == [100] && cashier.till.takings == 100)
  }

  @Test func withoutATokenNothingIsCharged() async {
    await #expect(throws: Cashier.NoToken.self) { try await cashier.sell(cents: 100) }
    #expect(await payments.charged.isEmpty)
  }

  @Test func whenTheTokenCantBeReadNothingIsCharged() async throws {
    try cashier.till.$token.save("token")
    storage.faults.fail(.reads, with: .failure(StorageError(.locked, "the store is locked")))
    await #expect(throws: StorageError.self) { try await cashier.sell(cents: 100) }
    #expect(await payments.charged.isEmpty)
  }
}
