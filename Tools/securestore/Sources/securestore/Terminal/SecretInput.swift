internal import CryptoCore
internal import Glibc

/// Reads secrets from files and descriptors into memory that is locked and wiped.
enum SecretInput {
  /// The longest value that a storage accepts, in bytes.
  static let valueLimit = 1 << 28
  /// The longest passphrase, in bytes.
  static let lineLimit = 4096

  /// The rest of the input.
  static func all(of descriptor: Int32, path: String? = nil) throws -> SecureBytes {
    var chunks: [SecureBytes] = []
    var total = 0
    var size = 1 << 14
    while true {
      let chunk = try fill(size, from: descriptor, path: path)
      chunks.append(chunk)
      total += chunk.count
      guard total <= valueLimit else {
        throw Failure(.usage, "the input is longer than \(valueLimit) bytes", path: path)
      }
      if chunk.count < size { break }
      size *= 2
    }
    return chunks.count == 1 ? chunks[0] : try joined(chunks, total)
  }

  /// One line, without its end, which is LF or CR LF.
  ///
  /// Reads byte by byte, so that the rest of the input is left for other readers.
  static func line(of descriptor: Int32, path: String? = nil) throws -> SecureBytes {
    var count = 0
    let line = try unsafe secret(count: lineLimit) { buffer in
      while true {
        guard count < lineLimit else {
          throw Failure(.usage, "the line is longer than \(lineLimit) bytes", path: path)
        }
        guard try unsafe read(descriptor, buffer.baseAddress! + count, 1, path) == 1 else { return }
        if unsafe buffer[count] == UInt8(ascii: "\n") {
          if count > 0, unsafe buffer[count - 1] == UInt8(ascii: "\r") { count -= 1 }
          return
        }
        count += 1
      }
    }
    return try line.prefix(count)
  }

  /// A whole file; a file of secrets that others can read is refused.
  static func file(_ path: String, isSecret: Bool, lineOnly: Bool = false) throws -> SecureBytes {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY)
    guard descriptor >= 0 else { throw Failure(system: "open", path: path, number: errno) }
    defer { close(descriptor) }
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else {
      throw Failure(system: "stat", path: path, number: errno)
    }
    // A pipe, as of a shell's <(...), can be read only by programs that inherit it.
    if isSecret, status.st_mode & S_IFMT == S_IFREG, status.st_mode & 0o077 != 0 {
      throw Failure(
        .denied, "others can read the file; run chmod 600 on it, and change the secrets in it",
        path: path)
    }
    return lineOnly
      ? try line(of: descriptor, path: path) : try all(of: descriptor, path: path)
  }

  // MARK: - Memory

  /// Makes secure bytes that `body` fills.
  static func secret(
    count: Int, _ body: (UnsafeMutableRawBufferPointer) throws -> Void
  ) throws -> SecureBytes {
    var failure: (any Error)?
    let bytes = try SecureBytes(count: count) { (span) throws(CryptoError) in
      unsafe span.withUnsafeMutableBytes { buffer in
        do { try unsafe body(buffer) } catch { failure = error }
      }
    }
    if let failure { throw failure }
    return bytes
  }

  private static func fill(
    _ size: Int, from descriptor: Int32, path: String?
  ) throws -> SecureBytes {
    var count = 0
    let chunk = try unsafe secret(count: size) { buffer in
      while count < size {
        let step = try unsafe read(
          descriptor, buffer.baseAddress! + count, size - count, path)
        if step == 0 { return }
        count += step
      }
    }
    return try chunk.prefix(count)
  }

  private static func joined(_ chunks: [SecureBytes], _ total: Int) throws -> SecureBytes {
    try unsafe secret(count: total) { buffer in
      var offset = 0
      for chunk in chunks {
        chunk.withBytes { bytes in
          unsafe bytes.withUnsafeBytes {
            unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[offset...]).copyMemory(from: $0)
          }
        }
        offset += chunk.count
      }
    }
  }

  private static func read(
    _ descriptor: Int32, _ address: UnsafeMutableRawPointer, _ count: Int, _ path: String?
  ) throws -> Int {
    while true {
      let result = unsafe Glibc.read(descriptor, address, count)
      if result >= 0 { return result }
      guard errno == EINTR else { throw Failure(system: "read", path: path, number: errno) }
    }
  }
}

extension SecureBytes {
  /// The first bytes, in memory of their own.
  func prefix(_ count: Int) throws -> SecureBytes {
    guard count != self.count else { return self }
    return try withBytes { try SecureBytes(copying: $0.extracting(first: count)) }
  }

  /// The bytes without one line break at the end, which is LF or CR LF.
  func withoutLineBreak() throws -> SecureBytes {
    guard last == UInt8(ascii: "\n") else { return self }
    let line = try prefix(count - 1)
    return line.last == UInt8(ascii: "\r") ? try line.prefix(line.count - 1) : line
  }

  /// The last byte, or nil when there is none.
  var last: UInt8? {
    count == 0 ? nil : withBytes { $0.unsafeBytes(last: 1)[0] }
  }

  /// The text that the bytes are, or nil when they are not UTF-8.
  ///
  /// It is ordinary memory.
  var text: String? {
    withBytes { unsafe $0.withUnsafeBytes { unsafe String(validating: $0, as: UTF8.self) } }
  }

  /// A copy in ordinary memory.
  var array: [UInt8] {
    withBytes { unsafe $0.withUnsafeBytes { unsafe [UInt8]($0) } }
  }
}

extension RawSpan {
  fileprivate func unsafeBytes(last count: Int) -> [UInt8] {
    unsafe extracting(last: count).withUnsafeBytes { unsafe [UInt8]($0) }
  }
}
