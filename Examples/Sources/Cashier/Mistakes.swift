import SecurePropertyStorage

/// The three most common mistakes, and the messages that they print.
enum Mistakes {
  final class Clock: Sendable {
    init() throws { _ = try InjectStorage.standard.resolve(Calendar.self, group: "time") }
  }

  final class Calendar: Sendable {
    init() throws { _ = try InjectStorage.standard.resolve(Clock.self, group: "time") }
  }

  static func show() {
    @Inject var payments: (any PaymentClient)?
    say { _ = try $payments.resolve() }

    @Register var live: any PaymentClient = LivePayments()
    @Register var spare: any PaymentClient = LivePayments()
    say { _ = try $payments.resolve() }

    @Register(group: "time") var clock = { try Clock() }
    @Register(group: "time") var calendar = { try Calendar() }
    @Inject(group: "time") var injected: Clock?
    say { _ = try $injected.resolve() }
  }

  private static func say(_ body: () throws -> Void) {
    do { try body() } catch { print("\(error)\n") }
  }
}
