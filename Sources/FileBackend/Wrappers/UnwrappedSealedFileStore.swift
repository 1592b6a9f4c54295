public import CryptoCore
public import StorageCore

public import struct Foundation.Data

/// A property that is a file of a sealed folder, and its default when there is none.
///
///     @UnwrappedSealedFile("notes") var notes = ""
///
/// The default is returned and never written. In everything else as ``SealedFileStore``: reading the
/// property when the folder fails gives the default and reports the error.
@propertyWrapper
public struct UnwrappedSealedFileStore<Value>: DefaultedSealedFileProperty {
  /// Folder, name and coding.
  public let core: SealedFileCore<Value>
  /// What the property is when there is no value.
  public let defaultValue: Value

  /// A property with a coding of the caller's choice.
  ///
  /// - Parameters:
  ///   - wrappedValue: the default.
  ///   - folder: where the file is.
  ///   - name: its name.
  ///   - coding: how the value becomes bytes.
  public init(
    wrappedValue: Value, _ folder: SealedFolder, _ name: StoreKey, coding: SealedFileCoding<Value>
  ) {
    core = SealedFileCore(folder: folder, name: name, coding: coding)
    defaultValue = wrappedValue
  }

  /// The value of the file, or the default when there is none or it could not be read.
  public var wrappedValue: Value {
    get { core.get() ?? defaultValue }
    nonmutating set { core.set(newValue) }
  }

  /// The wrapper itself: `$property.load()` and the like.
  public var projectedValue: UnwrappedSealedFileStore { self }
}

extension UnwrappedSealedFileStore where Value == Data {
  /// A property of the standard folder, or of another one.
  public init(wrappedValue: Value, _ name: StoreKey, in folder: SealedFolder = .standard) {
    self.init(wrappedValue: wrappedValue, folder, name, coding: .bytes)
  }
}

extension UnwrappedSealedFileStore where Value == String {
  /// A property of the standard folder, or of another one.
  public init(wrappedValue: Value, _ name: StoreKey, in folder: SealedFolder = .standard) {
    self.init(wrappedValue: wrappedValue, folder, name, coding: .text)
  }
}

/// A property that is a file of a sealed folder, made of a `Codable` value, and its default when there is
/// none.
///
/// Kept as JSON unless another `CodableCoding` is given. In everything else as
/// ``UnwrappedSealedFileStore``.
@propertyWrapper
public struct UnwrappedCodableSealedFileStore<Value: Codable>: DefaultedSealedFileProperty {
  /// Folder, name and coding.
  public let core: SealedFileCore<Value>
  /// What the property is when there is no value.
  public let defaultValue: Value

  /// A property of the standard folder, or of another one.
  ///
  /// - Parameters:
  ///   - wrappedValue: the default.
  ///   - name: the name of the file.
  ///   - folder: where the file is.
  ///   - coding: how the value becomes bytes.
  public init(
    wrappedValue: Value, _ name: StoreKey, in folder: SealedFolder = .standard,
    coding: CodableCoding = .json
  ) {
    core = SealedFileCore(folder: folder, name: name, coding: .codable(coding))
    defaultValue = wrappedValue
  }

  /// The value of the file, or the default when there is none or it could not be read.
  public var wrappedValue: Value {
    get { core.get() ?? defaultValue }
    nonmutating set { core.set(newValue) }
  }

  /// The wrapper itself: `$property.load()` and the like.
  public var projectedValue: UnwrappedCodableSealedFileStore { self }
}

extension UnwrappedSealedFileStore: Sendable where Value: Sendable {}
extension UnwrappedCodableSealedFileStore: Sendable where Value: Sendable {}

extension UnwrappedSealedFileStore: RedactedDescription {
  /// The name, and neither value nor default.
  public var description: String { "UnwrappedSealedFileStore(\"\(name)\")" }
}

extension UnwrappedCodableSealedFileStore: RedactedDescription {
  /// The name, and neither value nor default.
  public var description: String { "UnwrappedCodableSealedFileStore(\"\(name)\")" }
}
