import SecurePropertyStorage

/// The service that charges customers.
protocol PaymentClient: Sendable {
  /// Charges an amount, and returns a receipt.
  func charge(cents: Int, token: String) async throws -> String
}

/// A stand-in for the client of a payment service.
struct LivePayments: PaymentClient {
  func charge(cents: Int, token: String) async throws -> String {
    "receipt over \(cents) cents"
  }
}

/// The cashier's data, sealed, in the injected storage.
struct Till: Sendable {
  @Store<String, DelegatedStorage> var token: String?
  @UnwrappedStore<Int, DelegatedStorage> var takings: Int

  init(in storage: DelegatedStorage) {
    _token = Store(storage, "payment-token")
    _takings = UnwrappedStore(wrappedValue: 0, storage, "takings")
  }
}

/// Sells goods.
///
/// The cashier declares the services that it needs, not where they come from.
struct Cashier: Sendable {
  @UnwrappedInject var payments: any PaymentClient
  @UnwrappedInject var till: Till

  struct NoToken: Error {}

  /// Charges an amount, and then books it.
  func sell(cents: Int) async throws -> String {
    guard let token = try till.$token.load() else { throw NoToken() }
    let receipt = try await payments.charge(cents: cents, token: token)
    try till.$takings.update { $0 += cents }
    return receipt
  }
}

/// The only place that selects the parts of the program.
enum Composition {
  static func register() {
    @Register var storage = { VaultStorage.standard as DelegatedStorage }
    @Register var till = { Till(in: try InjectStorage.standard.resolve()) }
    @Register var payments: any PaymentClient = LivePayments()
  }
}
