import Foundation
import SecurePropertyStorage

/// Sells twice, or shows typical mistakes: `sell`, `mistakes`.
@main
struct Main {
  static func main() async {
    do {
      switch CommandLine.arguments.dropFirst().first {
      case "sell": try await sell()
      case "mistakes": Mistakes.show()
      default:
        FileHandle.standardError.write(Data("usage: Cashier sell | mistakes\n".utf8))
        exit(64)
      }
    } catch {
      FileHandle.standardError.write(Data("cashier: \(error)\n".utf8))
      exit(1)
    }
  }

  private static func sell() async throws {
    SecureStorage.bootstrap(applicationID: "org.example.cashier")
    Composition.register()
    // Anything that can't be built is reported here, not at the first sale.
    try InjectStorage.validate()

    let cashier = Cashier()
    try cashier.till.$token.save("tok-7d1f")
    for cents in [1250, 399] { print(try await cashier.sell(cents: cents)) }
    print("takings: \(cashier.till.takings) cents")
  }
}
