// Declarations that the compiler refuses with a message that says what to write instead. None of
// these can be called.

public import StorageCore

extension UnwrappedSealedFile {
  /// Not available: the property needs a default.
  @available(
    *, unavailable,
    message: "give it a default, as in `var x = 0`, or drop Unwrapped and write `var x: Int?`"
  )
  public init(_ name: StoreKey, in folder: SealedFolder = .standard) {
    refusedByTheCompiler()
  }
}

extension UnwrappedCodableSealedFile {
  /// Not available: the property needs a default.
  @available(
    *, unavailable,
    message: "give it a default, as in `var x = 0`, or drop Unwrapped and write `var x: Int?`"
  )
  public init(
    _ name: StoreKey, in folder: SealedFolder = .standard, coding: CodableCoding = .json
  ) { refusedByTheCompiler() }
}
