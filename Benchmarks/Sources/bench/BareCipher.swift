import CFloor

/// The floor: AES-256-GCM through EVP in a loop in C, with reused contexts.
@safe
final class BareCipher {
  /// As many bytes as the library binds a record to, without a tag of the caller's.
  static let associatedData = [UInt8](repeating: 0xAD, count: 112)

  private let contexts: OpaquePointer
  private let text: [UInt8]
  private var sealed: [UInt8]
  private var opened: [UInt8]

  struct Failed: Error {}

  /// The floor for texts of `count` bytes.
  init(count: Int) throws {
    guard let contexts = unsafe floor_new([UInt8](repeating: 7, count: 32)) else { throw Failed() }
    unsafe self.contexts = contexts
    text = [UInt8](repeating: 0x5A, count: count)
    sealed = [UInt8](repeating: 0, count: count + 28)
    opened = [UInt8](repeating: 0, count: count)
    try seal(1)
  }

  deinit { unsafe floor_free(contexts) }

  func seal(_ rounds: Int) throws {
    let data = Self.associatedData
    let result = unsafe floor_seal(
      contexts, rounds, data, Int32(data.count), text, Int32(text.count), &sealed)
    guard result == 0 else { throw Failed() }
  }

  func open(_ rounds: Int) throws {
    let data = Self.associatedData
    let result = unsafe floor_open(
      contexts, rounds, data, Int32(data.count), sealed, Int32(text.count), &opened)
    guard result == 0, opened == text else { throw Failed() }
  }

  /// Opens once, and compares nothing: of long texts that takes as long as a part of the opening.
  func openUnchecked() throws {
    let data = Self.associatedData
    let result = unsafe floor_open_by_parameter(
      contexts, 1, data, Int32(data.count), sealed, Int32(text.count), &opened)
    guard result == 0 else { throw Failed() }
  }

  func openByParameter(_ rounds: Int) throws {
    let data = Self.associatedData
    let result = unsafe floor_open_by_parameter(
      contexts, rounds, data, Int32(data.count), sealed, Int32(text.count), &opened)
    guard result == 0, opened == text else { throw Failed() }
  }
}
