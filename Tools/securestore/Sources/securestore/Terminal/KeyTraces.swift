internal import Glibc
internal import StorageCore

/// Where this process has its key from, as far as a program that is run would have it as well.
struct KeyTraces {
  /// The variables that hold keys of the vault.
  let variables: Set<String>
  private let descriptors: [Int32]

  init(_ options: KeyOptions, _ place: VaultPlace) throws {
    let slots = try place.knownSlots(of: place.path)
    variables = Set(
      slots.filter { $0.kind == KeySlot.environmentKind }.map(\.identifier)
        + [options.keyEnv].compactMap(\.self))
    descriptors = [options.passphraseDescriptor, options.recoveryDescriptor].compactMap(\.self)
  }

  /// Takes the descriptors away that a secret was read from: it could be read once more.
  func close() {
    for descriptor in descriptors {
      // A standard stream stays open, on nothing.
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
