internal import StorageCore

/// The exit codes; securestore(1) has the same table.
enum ExitStatus: Int32, CaseIterable {
  case success = 0
  case absent = 1
  case unsound = 2
  case exists = 3
  case cancelled = 4
  case keyUnavailable = 10
  case wrongKey = 11
  case damaged = 12
  case typeMismatch = 13
  case locked = 14
  case outcomeUnknown = 15
  case full = 16
  case readOnly = 17
  case unsupported = 18
  case noBus = 20
  case noService = 21
  case noCollection = 22
  case duplicate = 23
  case conflict = 24
  // sysexits.h(3head)
  case usage = 64
  case malformedInput = 65
  case noInput = 66
  case unavailable = 69
  case software = 70
  case io = 74
  case busy = 75
  case denied = 77
  // As env(1) and shells use them for a program that they run.
  case notExecutable = 126
  case notFound = 127

  /// The status for a failure of the library.
  init(_ code: StorageError.Code) {
    self = Self(rawValue: code.exitCode) ?? .software  // a code of a later release
  }
}
