@testable import CryptoCore

extension AEADKey {
  convenience init(bytes: [UInt8], algorithm: AEADAlgorithm) throws(CryptoError) {
    try self.init(SymmetricKey(data: bytes), algorithm: algorithm)
  }

  /// Ciphertext and tag under a nonce of the test's choice.
  func seal(
    _ plaintext: [UInt8], nonce: [UInt8], associatedData: [UInt8]
  ) throws(CryptoError) -> [UInt8] {
    precondition(nonce.count == algorithm.nonceSize)
    var output = [UInt8](repeating: 0, count: plaintext.count + AEADAlgorithm.tagSize)
    try unsafe Self.withBuffers(nonce, associatedData, plaintext, &output) {
      (nonce, associatedData, plaintext, output) throws(CryptoError) in
      try unsafe seal(
        nonce: nonce.baseAddress!, associatedData: associatedData, plaintext: plaintext,
        into: output.baseAddress!)
    }
    return output
  }

  /// The plaintext of ciphertext and tag; the run ends when a refusal leaves a byte behind.
  func open(
    _ ciphertext: [UInt8], tag: [UInt8], nonce: [UInt8], associatedData: [UInt8]
  ) throws(CryptoError) -> [UInt8] {
    precondition(nonce.count == algorithm.nonceSize && tag.count == AEADAlgorithm.tagSize)
    // One byte more, since an empty array lends no address.
    var output = [UInt8](repeating: 0xa5, count: ciphertext.count + 1)
    let sealed = ciphertext + tag
    do {
      try unsafe Self.withBuffers(nonce, associatedData, sealed, &output) {
        (nonce, associatedData, sealed, output) throws(CryptoError) in
        try unsafe open(
          nonce: nonce.baseAddress!, associatedData: associatedData,
          ciphertext: .init(start: sealed.baseAddress, count: ciphertext.count),
          tag: sealed.baseAddress! + ciphertext.count, into: output.baseAddress!)
      }
    } catch {
      precondition(output.dropLast().allSatisfy { $0 == 0 }, "plaintext of a refused message")
      throw error
    }
    precondition(output.removeLast() == 0xa5, "a byte behind the plaintext was written")
    return output
  }

  private static func withBuffers(
    _ nonce: [UInt8], _ associatedData: [UInt8], _ input: [UInt8], _ output: inout [UInt8],
    _ body: (
      UnsafeRawBufferPointer, UnsafeRawBufferPointer, UnsafeRawBufferPointer,
      UnsafeMutableRawBufferPointer
    ) throws(CryptoError) -> Void
  ) throws(CryptoError) {
    // The arrays' own functions rethrow `any Error`.
    let result: Result<Void, CryptoError> = unsafe nonce.withUnsafeBytes { nonce in
      unsafe associatedData.withUnsafeBytes { associatedData in
        unsafe input.withUnsafeBytes { input in
          unsafe output.withUnsafeMutableBytes { output in
            do throws(CryptoError) {
              return .success(try unsafe body(nonce, associatedData, input, output))
            } catch {
              return .failure(error)
            }
          }
        }
      }
    }
    try result.get()
  }
}
