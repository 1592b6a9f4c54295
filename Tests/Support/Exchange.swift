private import Glibc

/// Exchanges two entries of folders, as an attacker does who may write to the folders.
package enum Exchange {
  // renameat2(2), which Glibc's module does not have, and RENAME_EXCHANGE.
  private typealias Rename =
    @convention(c) (Int32, UnsafePointer<CChar>, Int32, UnsafePointer<CChar>, UInt32) -> Int32
  private static let exchange: UInt32 = 2

  /// Exchanges them again and again until the process is killed.
  package static func forever(_ one: String, _ other: String) -> Never {
    guard let symbol = unsafe dlsym(nil, "renameat2") else { fatalError("no renameat2") }
    let rename = unsafe unsafeBitCast(symbol, to: Rename.self)
    var isSaid = false
    while true {
      guard unsafe rename(AT_FDCWD, one, AT_FDCWD, other, exchange) == 0 else {
        fatalError("renameat2: \(errno)")
      }
      if !isSaid { print("begun") }
      isSaid = true
      fflush(nil)
    }
  }

  /// How many descriptors this process has open.
  package static func descriptorCount() -> Int {
    (0..<1024).count { fcntl($0, F_GETFD) >= 0 }
  }
}
