internal import Glibc
internal import StorageCore

/// The places of the vault's key in this process that a started program would inherit.
struct KeyTraces {
  /// The variables that hold keys of the vault.
  let variables: Set<String>
  private let descriptors: [Int32]

  /// - Parameters:
  ///   - options: the key options of the command.
  ///   - slots: what opens the store.
  init(_ options: KeyOptions, _ slots: [KeySlot]) {
    variables = Set(
      slots.filter { $0.kind == KeySlot.environmentKind }.map(\.identifier)
        + [options.keyEnv].compactMap(\.self))
    descriptors = [options.passphraseDescriptor, options.recoveryDescriptor].compactMap(\.self)
  }

  /// Closes the descriptors from which a secret was read, since a program could read them again.
  func close() {
    for descriptor in descriptors {
      // A standard stream stays open, on /dev/null.
      if descriptor <= 2 {
        let null = unsafe open("/dev/null", O_RDWR | O_CLOEXEC)
        if null >= 0 {
          dup2(null, descriptor)
          Glibc.close(null)
          continue
        }
      }
      Glibc.close(descriptor)
    }
  }
}
