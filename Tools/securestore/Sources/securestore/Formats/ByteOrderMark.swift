extension String {
  /// The text's UTF-8 without a byte order mark at its start, which editors on Windows write.
  var bytesWithoutMark: [UInt8] {
    let bytes = Array(utf8)
    return bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(bytes.dropFirst(3)) : bytes
  }
}
