import SecurePropertyStorage

/// Who takes the money.
protocol PaymentClient: Sendable {
  /// Charges an amount, and gives a receipt.
  func charge(cents: Int, token: String) async throws -> String
}

/// Stands for a client of a payment service.
struct LivePayments: PaymentClient {
  func charge(cents: Int, token: String) async throws -> String {
    "receipt over \(cents) cents"
  }
}

/// What the cashier keeps, sealed, in whichever storage is injected.
struct Till: Sendable {
  @Store<String, DelegatedStorage> var token: String?
  @UnwrappedStore<Int, DelegatedStorage> var takings: Int

  init(in storage: DelegatedStorage) {
    _token = Store(storage, "payment-token")
    _takings = UnwrappedStore(wrappedValue: 0, storage, "takings")
  }
}

/// Sells: it names what it needs, and not where that comes from.
struct Cashier: Sendable {
  @UnwrappedInject var payments: any PaymentClient
  @UnwrappedInject var till: Till

  struct NoToken: Error {}

  /// Charges an amount, and books it once it is charged.
  func sell(cents: Int) async throws -> String {
    guard let token = try till.$token.load() else { throw NoToken() }
    let receipt = try await payments.charge(cents: cents, token: token)
    try till.$takings.update { $0 += cents }
    return receipt
  }
}

/// The one place that says what the program is made of.
enum Composition {
  static func register() {
    @Register var storage = { VaultStorage.standard as DelegatedStorage }
    @Register var till = { Till(in: try InjectStorage.standard.resolve()) }
    @Register var payments: any PaymentClient = LivePayments()
  }
}
