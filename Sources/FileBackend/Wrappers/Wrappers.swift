/// A file of the standard sealed folder, `Data` or `String`; `nil` when there is none.
///
/// See ``SealedFileStore``.
///
///     @SealedFile("avatar") var avatar: Data?
public typealias SealedFile<Value> = SealedFileStore<Value>

/// A `Codable` file of the standard sealed folder; `nil` when there is none.
///
/// See ``CodableSealedFileStore``.
public typealias CodableSealedFile<Value: Codable> = CodableSealedFileStore<Value>

/// A file of the standard sealed folder, `Data` or `String`; its default when there is none.
///
/// See ``UnwrappedSealedFileStore``.
public typealias UnwrappedSealedFile<Value> = UnwrappedSealedFileStore<Value>

/// A `Codable` file of the standard sealed folder; its default when there is none.
///
/// See ``UnwrappedCodableSealedFileStore``.
public typealias UnwrappedCodableSealedFile<Value: Codable> = UnwrappedCodableSealedFileStore<Value>
