import Crypto
import CryptoCore
import Foundation

/// Sealing and opening of records, and a peer's.
enum Sealing {
  static func comparisons() throws -> [Comparison] {
    try short() + long() + peer(count: 32, "32 B") + peer(count: 65536, "64 KiB")
      + other(.chaCha20Poly1305) + other(.xaes256GCM)
  }

  private static func context() throws -> RecordContext {
    let name = NameHash([UInt8](repeating: 1, count: NameHash.byteCount))
    guard let name else { throw BareCipher.Failed() }
    return RecordContext(store: try StoreID.random(), name: name)
  }

  /// A key, a context, a text and its record.
  private struct Setup {
    let key: DataKey
    let context: RecordContext
    let text: [UInt8]
    let record: [UInt8]

    init(count: Int, algorithm: AEADAlgorithm = .aes256GCM) throws {
      key = try DataKey(CryptoCore.SymmetricKey(size: .bits256), id: 1, algorithm: algorithm)
      context = try Sealing.context()
      let text = [UInt8](repeating: 0x5A, count: count)
      self.text = text
      record = try unsafe key.seal(text.span.bytes, for: context)
    }

    func seal(_ rounds: Int) throws {
      var output = [UInt8](repeating: 0, count: record.count)
      var elements = output.mutableSpan
      var bytes = unsafe elements.mutableBytes
      let text = unsafe text.span.bytes
      for _ in 0..<rounds { try key.seal(text, for: context, into: &bytes) }
    }

    func open(_ rounds: Int) throws {
      var output = [UInt8](repeating: 0, count: text.count)
      do {
        var elements = output.mutableSpan
        var bytes = unsafe elements.mutableBytes
        let record = unsafe record.span.bytes
        for _ in 0..<rounds { try key.open(record, for: context, into: &bytes) }
      }
      guard output == text else { throw BareCipher.Failed() }
    }

    func sealedData(_ rounds: Int) throws {
      let text = unsafe text.span.bytes
      for _ in 0..<rounds { keep(try key.sealedData(text, for: context)) }
    }

    func openedData(_ rounds: Int) throws {
      let record = unsafe record.span.bytes
      for _ in 0..<rounds { keep(try key.openedData(record, for: context)) }
    }
  }

  private static func short() throws -> [Comparison] {
    let bare = try BareCipher(count: 32)
    let ours = try Setup(count: 32)
    return [
      Comparison(
        "seal 32 B into a buffer", against: "bare seal", target: 1.25,
        floor: bare.seal, ours: ours.seal),
      Comparison(
        "open 32 B into a buffer", against: "bare open", target: 1.25,
        floor: bare.open, ours: ours.open),
      Comparison(
        "open 32 B into a buffer", against: "the same, nonce as a parameter",
        floor: bare.openByParameter, ours: ours.open),
      Comparison(
        "seal 32 B as Data", against: "bare seal", target: 1.6,
        floor: bare.seal, ours: ours.sealedData),
      Comparison(
        "open 32 B as Data", against: "bare open", target: 1.6,
        floor: bare.open, ours: ours.openedData),
    ]
  }

  private static func long() throws -> [Comparison] {
    let bare = try BareCipher(count: 65536)
    let ours = try Setup(count: 65536)
    // 0.95 of the throughput.
    return [
      Comparison(
        "seal 64 KiB into a buffer", against: "bare seal", target: 1 / 0.95,
        floor: bare.seal, ours: ours.seal),
      Comparison(
        "open 64 KiB into a buffer", against: "bare open", target: 1 / 0.95,
        floor: bare.open, ours: ours.open),
    ]
  }

  private static func other(_ algorithm: AEADAlgorithm) throws -> [Comparison] {
    let bare = try BareCipher(count: 32)
    let ours = try Setup(count: 32, algorithm: algorithm)
    return [
      Comparison(
        "\(algorithm): seal 32 B", against: "bare AES-256-GCM seal",
        floor: bare.seal, ours: ours.seal),
      Comparison(
        "\(algorithm): open 32 B", against: "bare AES-256-GCM open",
        floor: bare.open, ours: ours.open),
    ]
  }

  /// swift-crypto's AES.GCM with the same associated data.
  private static func peer(count: Int, _ size: String) throws -> [Comparison] {
    let bare = try BareCipher(count: count)
    let key = Crypto.SymmetricKey(size: .bits256)
    let text = Data(repeating: 0x5A, count: count)
    let data = Data(BareCipher.associatedData)
    let box = try AES.GCM.seal(text, using: key, authenticating: data)
    return [
      Comparison(
        "swift-crypto: seal \(size)", against: "bare seal", floor: bare.seal,
        ours: { rounds in
          for _ in 0..<rounds { keep(try AES.GCM.seal(text, using: key, authenticating: data)) }
        }),
      Comparison(
        "swift-crypto: open \(size)", against: "bare open", floor: bare.open,
        ours: { rounds in
          for _ in 0..<rounds { keep(try AES.GCM.open(box, using: key, authenticating: data)) }
        }),
    ]
  }
}

/// Takes a value that nobody else wants, so that it is made.
@inline(never)
func keep<Value>(_ value: Value) {
  unsafe withUnsafePointer(to: value) { unsafe sink = UnsafeRawPointer($0) }
}

// Unchecked, or each value that is kept costs a look into the set of accesses.
@exclusivity(unchecked) nonisolated(unsafe) private var sink: UnsafeRawPointer?
