import DefaultsBackend
import Foundation
import SingletonBackend
import StorageCore

/// Reads and writes through the property wrappers of a struct, as programs do.
enum Wrappers {
  struct User: Codable, Equatable {
    var id = 4711
    var name = "Ada Lovelace"
    var email = "ada@example.org"
    var isAdministrator = true
  }

  /// The name of the `String` makes its record's payload whole cipher blocks, 48 bytes, as the
  /// floor's 32 bytes are: a part of a block costs EVP 20 to 30 ns more, on either side.
  struct Session {
    @Singleton("username") var token: String?
    /// 45 bytes: the usual case, in which the last block is a part of one.
    @Singleton("token") var unaligned: String?
    @Singleton("attempts") var attempts: Int?
    @CodableSingleton("user") var user: User?
    @UserDefault("username") var kept: String?
  }

  struct WrongValue: Error {}

  static func comparisons() throws -> [Comparison] {
    // The floor handles the 32 bytes alone; the library's record also holds the name and type.
    let bare = try BareCipher(count: 32)
    let session = Session()
    let token = String(repeating: "t", count: 32)
    session.token = token
    session.unaligned = token
    session.attempts = 3
    session.kept = token
    func volatile(_ rounds: Int) throws {
      var count = 0
      for _ in 0..<rounds { count &+= session.token?.utf8.count ?? 0 }
      guard count == rounds * 32 else { throw WrongValue() }
    }
    func kept(_ rounds: Int) throws {
      var count = 0
      for _ in 0..<rounds { count &+= session.kept?.utf8.count ?? 0 }
      guard count == rounds * 32 else { throw WrongValue() }
    }
    return try [
      Comparison(
        "@Singleton String: read", against: "bare open", target: 2, floor: bare.open,
        ours: volatile),
      Comparison(
        "@Singleton String: write", against: "bare seal", target: 2.5, floor: bare.seal,
        ours: { rounds in for _ in 0..<rounds { session.token = token } }),
      Comparison(
        "@Singleton String, part of a block: read", against: "bare open", floor: bare.open,
        ours: { rounds in
          var count = 0
          for _ in 0..<rounds { count &+= session.unaligned?.utf8.count ?? 0 }
          guard count == rounds * 32 else { throw WrongValue() }
        }),
      Comparison(
        "@Singleton String, part of a block: write", against: "bare seal", floor: bare.seal,
        ours: { rounds in for _ in 0..<rounds { session.unaligned = token } }),
      Comparison(
        "@Singleton Int: read", against: "bare open", floor: bare.open,
        ours: { rounds in
          var sum = 0
          for _ in 0..<rounds { sum &+= session.attempts ?? 0 }
          guard sum == rounds * 3 else { throw WrongValue() }
        }),
      Comparison(
        "@Singleton Int: write", against: "bare seal", floor: bare.seal,
        ours: { rounds in for _ in 0..<rounds { session.attempts = 3 } }),
      Comparison(
        "@UserDefault String: read", against: "@Singleton read", target: 2, floor: volatile,
        ours: kept),
      Comparison("@UserDefault String: read", against: "bare open", floor: bare.open, ours: kept),
    ] + codable(session)
  }

  private static func codable(_ session: Session) throws -> [Comparison] {
    let user = User()
    session.user = user
    let decoder = JSONDecoder()
    let encoder = JSONEncoder()
    let json = try encoder.encode(user)
    let bare = try BareCipher(count: json.count)
    return [
      Comparison(
        "@CodableSingleton: read", against: "JSONDecoder and bare open", target: 1.3,
        floor: { rounds in
          for _ in 0..<rounds {
            guard try decoder.decode(User.self, from: json).id == 4711 else { throw WrongValue() }
          }
          try bare.open(rounds)
        },
        ours: { rounds in
          for _ in 0..<rounds { guard session.user?.id == 4711 else { throw WrongValue() } }
        }),
      Comparison(
        "@CodableSingleton: write", against: "JSONEncoder and bare seal",
        floor: { rounds in
          for _ in 0..<rounds { keep(try encoder.encode(user)) }
          try bare.seal(rounds)
        },
        ours: { rounds in for _ in 0..<rounds { session.user = user } }),
    ]
  }
}
