public import CryptoCore
public import StorageCore

public import struct FoundationEssentials.Data

/// A property that is a file of a sealed folder; `nil` when there is no file.
///
///     @SealedFile("avatar") var avatar: Data?
///     @CodableSealedFile("user") var user: User?
///
/// Use it for small values: each read of the property reads and authenticates the whole file. The
/// file holds the encoded value and nothing else: `Data` as it is, `String` as UTF-8. An initial
/// value is stored when the wrapper is created, unless the name already has a value. Reading the
/// property when the folder fails gives `nil` and reports the error; `$property.load()` throws the
/// error. Assigning `nil` removes the file.
///
/// After a failed read, assignments are refused until a read succeeds or you call
/// `$property.save(_:)`; after `busy`, `timedOut` or `cancelled`, only the next assignment is
/// refused. Copies of a wrapper address the same file.
@propertyWrapper
public struct SealedFile<Value>: OptionalStoredProperty, Sendable {
  /// The folder, the name and the coding.
  public let core: SealedFileCore<Value>

  /// Creates a property with a coding of your choice.
  ///
  /// - Parameters:
  ///   - wrappedValue: the initial value; nil means no initial value.
  ///   - folder: the folder that has the file.
  ///   - name: the name of the file.
  ///   - coding: how the value is encoded.
  public init(
    wrappedValue: Value? = nil, _ folder: SealedFolder, _ name: StoreKey,
    coding: SealedFileCoding<Value>
  ) {
    core = SealedFileCore(home: folder, name: name, coding: coding)
    core.register(wrappedValue)
  }

  /// The value of the file; nil when there is no file or it could not be read.
  public var wrappedValue: Value? {
    get { core.get() }
    nonmutating set { core.set(newValue) }
  }

  /// The wrapper itself: `$property.load()` and the like.
  public var projectedValue: SealedFile { self }
}

extension SealedFile where Value == Data {
  /// Creates a property of the standard folder or of another folder.
  public init(
    wrappedValue: Value? = nil, _ name: StoreKey, in folder: SealedFolder = .standard
  ) {
    self.init(wrappedValue: wrappedValue, folder, name, coding: .bytes)
  }
}

extension SealedFile where Value == String {
  /// Creates a property of the standard folder or of another folder.
  public init(
    wrappedValue: Value? = nil, _ name: StoreKey, in folder: SealedFolder = .standard
  ) {
    self.init(wrappedValue: wrappedValue, folder, name, coding: .text)
  }
}

/// A property of a `Codable` type that is a file of a sealed folder; `nil` when there is no file.
///
/// The value is encoded as JSON unless you pass another `CodableCoding`. Everything else works as
/// in ``SealedFile``.
@propertyWrapper
public struct CodableSealedFile<Value: Codable>: OptionalStoredProperty, Sendable {
  /// The folder, the name and the coding.
  public let core: SealedFileCore<Value>

  /// Creates a property of the standard folder or of another folder.
  ///
  /// - Parameters:
  ///   - wrappedValue: the initial value; nil means no initial value.
  ///   - name: the name of the file.
  ///   - folder: the folder that has the file.
  ///   - coding: how the value is encoded.
  public init(
    wrappedValue: Value? = nil, _ name: StoreKey, in folder: SealedFolder = .standard,
    coding: CodableCoding = .json
  ) {
    core = SealedFileCore(home: folder, name: name, coding: .codable(coding))
    core.register(wrappedValue)
  }

  /// The value of the file; nil when there is no file or it could not be read.
  public var wrappedValue: Value? {
    get { core.get() }
    nonmutating set { core.set(newValue) }
  }

  /// The wrapper itself: `$property.load()` and the like.
  public var projectedValue: CodableSealedFile { self }
}

extension SealedFile: RedactedDescription {
  /// The name, and no value.
  public var description: String { "SealedFile(\"\(name)\")" }
}

extension CodableSealedFile: RedactedDescription {
  /// The name, and no value.
  public var description: String { "CodableSealedFile(\"\(name)\")" }
}
