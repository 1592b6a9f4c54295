internal import CProcess
internal import Glibc

/// Passes values in descriptors that a program inherits: sealed files in memory, which nobody can
/// change.
enum ChildDescriptors {
  /// Refuses numbers that are given twice, or that are above the process's limit.
  static func check(_ numbers: [Int32]) throws {
    guard Set(numbers).count == numbers.count else {
      throw Failure(.usage, "nothing was run: each descriptor can hold only one value")
    }
    let limit = sysconf(Int32(_SC_OPEN_MAX))
    guard numbers.allSatisfy({ Int($0) < limit }) else {
      throw Failure(.usage, "nothing was run: descriptors must be below \(limit); see ulimit -n")
    }
  }

  /// Puts values at the given descriptors, replacing whatever was open there.
  static func place(_ values: [(number: Int32, bytes: [UInt8])]) throws {
    // First all files get numbers above the given ones, so that none takes another's place.
    let beyond = (values.map(\.number).max() ?? 0) + 1
    let files = try values.map { (number, bytes) in
      (number, try file(bytes, from: beyond))
    }
    for (number, file) in files {
      guard dup2(file, number) == number else {
        throw Failure(system: "make descriptor \(number)", path: nil, number: errno)
      }
      close(file)
    }
  }

  private static func file(_ bytes: [UInt8], from least: Int32) throws -> Int32 {
    let made = process_memory_file()
    guard made >= 0 else {
      throw Failure(system: "make a file in memory", path: nil, number: -made)
    }
    defer { close(made) }
    try Output.write(bytes, to: made)
    let number = process_seal(made)
    guard number == 0 else {
      throw Failure(system: "seal a file in memory", path: nil, number: number)
    }
    guard lseek(made, 0, SEEK_SET) == 0 else {
      throw Failure(system: "seek in a file in memory", path: nil, number: errno)
    }
    let file = process_duplicate(made, least)
    guard file >= 0 else {
      throw Failure(system: "make a descriptor", path: nil, number: -file)
    }
    return file
  }
}
