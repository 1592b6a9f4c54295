extension StorageError.Code {
  /// The exit code for a program that ends because of this error.
  ///
  /// These are the exit codes of `securestore`, as its manual page lists them.
  public var exitCode: Int32 {
    switch self {
    case .dismissed, .cancelled: 4
    case .keyUnavailable: 10
    case .wrongKey: 11
    case .damaged: 12
    case .typeMismatch: 13
    case .locked: 14
    case .outcomeUnknown: 15
    case .full: 16
    case .readOnly: 17
    case .unsupported: 18
    case .noBus: 20
    case .noService: 21
    case .noCollection: 22
    case .duplicate: 23
    case .conflict: 24
    // sysexits.h(3head)
    case .invalid: 64
    case .unavailable: 69
    case .io: 74
    case .busy, .timedOut: 75
    case .denied: 77
    default: 70
    }
  }
}
