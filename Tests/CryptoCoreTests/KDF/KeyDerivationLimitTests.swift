import CryptoCore
import TestSupport
import Testing

/// Parameters out of range are refused before any work is done; those in range are passed on.
struct KeyDerivationLimitTests {
  private let passphrase: SecureBytes
  private let salt = [UInt8](0..<16)

  init() throws {
    passphrase = try SecureBytes(Array("correct horse".utf8))
  }

  @Test(arguments: [(DerivationHash.sha256, 32), (.sha512, 64)])
  func hkdfGivesUpTo255Blocks(hash: DerivationHash, digestSize: Int) throws {
    func derive(_ count: Int) throws -> Int {
      try KeyDerivation.hkdf(passphrase, salt: salt, info: [], count: count, hash: hash).count
    }
    for count in [1, digestSize, 255 * digestSize] { #expect(try derive(count) == count) }
    for count in [0, -1, Int.min, 255 * digestSize + 1, Int.max] {
      #expect(code { _ = try derive(count) } == .invalidParameter)
    }
  }

  @Test func pbkdf2TakesPositiveRoundsAndUpTo1024Bytes() throws {
    func derive(rounds: Int, count: Int) throws -> Int {
      try KeyDerivation.pbkdf2(passphrase, salt: salt, rounds: rounds, count: count).count
    }
    for count in [1, 1024] { #expect(try derive(rounds: 1, count: count) == count) }
    for rounds in [0, -1, Int.min, 1 << 32, Int.max] {
      #expect(code { _ = try derive(rounds: rounds, count: 32) } == .invalidParameter)
    }
    for count in [0, -1, Int.min, 1025, Int.max] {
      #expect(code { _ = try derive(rounds: 1, count: count) } == .invalidParameter)
    }
  }

  @Test func scryptRefusesParametersOutOfRange() {
    for cost in [Int.min, -2, -1, 0, 1, 3, 6, 1000, (1 << 20) + 1, 1 << 41, 1 << 62, Int.max] {
      #expect(code { _ = try scrypt(cost: cost) } == .invalidParameter, "\(cost)")
    }
    for number in [Int.min, -1, 0, 1 << 21, Int.max] {
      #expect(code { _ = try scrypt(blockSize: number) } == .invalidParameter, "\(number)")
      #expect(code { _ = try scrypt(parallelism: number) } == .invalidParameter, "\(number)")
      #expect(code { _ = try scrypt(count: number) } == .invalidParameter, "\(number)")
    }
    #expect(code { _ = try scrypt(count: 1025) } == .invalidParameter)
    for maximum in [Int.min, -1, 0, 1] {
      #expect(code { _ = try scrypt(maximumMemory: maximum) } == .invalidParameter, "\(maximum)")
    }
  }

  /// Each number is in range alone; their product is more than an Int holds.
  @Test(arguments: [(40, 20, 0), (40, 17, 20), (40, 16, 0), (39, 20, 20), (1, 20, 20)])
  func scryptRefusesParametersThatTogetherAskForTooMuch(
    costBits: Int, blockBits: Int, parallelBits: Int
  ) {
    let answer = code {
      _ = try scrypt(cost: 1 << costBits, blockSize: 1 << blockBits, parallelism: 1 << parallelBits)
    }
    #expect(answer == .invalidParameter)
  }

  @Test func scryptStopsAtTheMaximumToTheByte() throws {
    // RFC 7914: 128 r N for V, 128 r p for B, 256 r for the working blocks.
    let needed = 128 * 8 * (1024 + 1 + 2)
    #expect(try scrypt(cost: 1024, blockSize: 8, maximumMemory: needed).count == 32)
    let answer = code {
      _ = try scrypt(cost: 1024, blockSize: 8, maximumMemory: needed - 1)
    }
    #expect(answer == .invalidParameter)
  }

  @Test func theDefaultMaximumSufficesForTheDefaultCost() throws {
    #expect(try scrypt(cost: 1 << 17, blockSize: 8).count == 32)
    #expect(code { _ = try scrypt(cost: 1 << 18, blockSize: 8) } == .invalidParameter)
  }

  @Test func argon2idRefusesParametersOutOfRange() {
    func derive(
      memory: Int = 64, passes: Int = 1, lanes: Int = 1, count: Int = 32, salt: Int = 16
    ) throws {
      _ = try KeyDerivation.argon2id(
        passphrase, salt: [UInt8](repeating: 0, count: salt), memory: memory, passes: passes,
        lanes: lanes, count: count)
    }
    for number in [Int.min, -1, 0, 1 << 32, Int.max] {
      #expect(code { try derive(memory: number) } == .invalidParameter)
      #expect(code { try derive(passes: number) } == .invalidParameter)
      #expect(code { try derive(lanes: number) } == .invalidParameter)
      #expect(code { try derive(count: number) } == .invalidParameter)
    }
    #expect(code { try derive(memory: 31, lanes: 4) } == .invalidParameter)
    #expect(code { try derive(count: 3) } == .invalidParameter)
    #expect(code { try derive(salt: 7) } == .invalidParameter)
    #expect(code { try derive() } == (KeyDerivation.isArgon2idAvailable ? nil : .unsupported))
  }

  private func scrypt(
    cost: Int = 16, blockSize: Int = 1, parallelism: Int = 1, count: Int = 32,
    maximumMemory: Int = 192 << 20
  ) throws -> SecureBytes {
    try KeyDerivation.scrypt(
      passphrase, salt: salt, cost: cost, blockSize: blockSize, parallelism: parallelism,
      count: count, maximumMemory: maximumMemory)
  }
}
