public import CryptoCore
public import StorageCore

public import struct FoundationEssentials.Data

/// A property that is a file of a sealed folder; it has its default when there is no file.
///
///     @UnwrappedSealedFile("notes") var notes = ""
///
/// The default is never stored. Reading the property when the folder fails gives the default and
/// reports the error. Everything else works as in ``SealedFile``.
@propertyWrapper
public struct UnwrappedSealedFile<Value>: DefaultedStoredProperty {
  /// The folder, the name and the coding.
  public let core: SealedFileCore<Value>
  /// The value of the property when there is no file.
  public let defaultValue: Value

  /// Creates a property with a coding of your choice.
  ///
  /// - Parameters:
  ///   - wrappedValue: the default.
  ///   - folder: the folder that has the file.
  ///   - name: the name of the file.
  ///   - coding: how the value is encoded.
  public init(
    wrappedValue: Value, _ folder: SealedFolder, _ name: StoreKey, coding: SealedFileCoding<Value>
  ) {
    core = SealedFileCore(home: folder, name: name, coding: coding)
    defaultValue = wrappedValue
  }

  /// The value of the file; the default when there is no file or it could not be read.
  public var wrappedValue: Value {
    get { core.get() ?? defaultValue }
    nonmutating set { core.set(newValue) }
  }

  /// The wrapper itself: `$property.load()` and the like.
  public var projectedValue: UnwrappedSealedFile { self }
}

extension UnwrappedSealedFile where Value == Data {
  /// Creates a property of the standard folder or of another folder.
  public init(wrappedValue: Value, _ name: StoreKey, in folder: SealedFolder = .standard) {
    self.init(wrappedValue: wrappedValue, folder, name, coding: .bytes)
  }
}

extension UnwrappedSealedFile where Value == String {
  /// Creates a property of the standard folder or of another folder.
  public init(wrappedValue: Value, _ name: StoreKey, in folder: SealedFolder = .standard) {
    self.init(wrappedValue: wrappedValue, folder, name, coding: .text)
  }
}

/// A property of a `Codable` type that is a file of a sealed folder; it has its default when there
/// is no file.
///
/// The value is encoded as JSON unless you pass another `CodableCoding`. Everything else works as
/// in ``UnwrappedSealedFile``.
@propertyWrapper
public struct UnwrappedCodableSealedFile<Value: Codable>: DefaultedStoredProperty {
  /// The folder, the name and the coding.
  public let core: SealedFileCore<Value>
  /// The value of the property when there is no file.
  public let defaultValue: Value

  /// Creates a property of the standard folder or of another folder.
  ///
  /// - Parameters:
  ///   - wrappedValue: the default.
  ///   - name: the name of the file.
  ///   - folder: the folder that has the file.
  ///   - coding: how the value is encoded.
  public init(
    wrappedValue: Value, _ name: StoreKey, in folder: SealedFolder = .standard,
    coding: CodableCoding = .json
  ) {
    core = SealedFileCore(home: folder, name: name, coding: .codable(coding))
    defaultValue = wrappedValue
  }

  /// The value of the file; the default when there is no file or it could not be read.
  public var wrappedValue: Value {
    get { core.get() ?? defaultValue }
    nonmutating set { core.set(newValue) }
  }

  /// The wrapper itself: `$property.load()` and the like.
  public var projectedValue: UnwrappedCodableSealedFile { self }
}

extension UnwrappedSealedFile: Sendable where Value: Sendable {}
extension UnwrappedCodableSealedFile: Sendable where Value: Sendable {}

extension UnwrappedSealedFile: RedactedDescription {
  /// The name, and neither value nor default.
  public var description: String { "UnwrappedSealedFile(\"\(name)\")" }
}

extension UnwrappedCodableSealedFile: RedactedDescription {
  /// The name, and neither value nor default.
  public var description: String { "UnwrappedCodableSealedFile(\"\(name)\")" }
}
