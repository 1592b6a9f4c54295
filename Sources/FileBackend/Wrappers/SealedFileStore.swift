public import CryptoCore
public import StorageCore

public import struct Foundation.Data

/// A property that is a file of a sealed folder, and `nil` when there is none.
///
///     @SealedFile("avatar") var avatar: Data?
///     @CodableSealedFile("user") var user: User?
///
/// For values that are read whole: the file is read, and authenticated, whenever the property is. Its
/// content is what the coding makes of the value, and nothing else: `Data` as it is, `String` as UTF-8.
/// An initial value is stored when the wrapper is made if, and only if, the name has no value. Reading
/// the property when the folder fails gives `nil` and reports the error; `$property.load()` throws it.
/// Assigning `nil` removes the file. After a read that failed, assigning is refused until a read
/// succeeds or the file is written by a call that throws, as `$property.save(_:)`; where it failed with
/// `busy` or `cancelled`, one assignment is. Copies of a wrapper address the same file.
@propertyWrapper
public struct SealedFileStore<Value>: OptionalSealedFileProperty, Sendable {
  /// Folder, name and coding.
  public let core: SealedFileCore<Value>

  /// A property with a coding of the caller's choice.
  ///
  /// - Parameters:
  ///   - wrappedValue: the initial value; nil is none.
  ///   - folder: where the file is.
  ///   - name: its name.
  ///   - coding: how the value becomes bytes.
  public init(
    wrappedValue: Value? = nil, _ folder: SealedFolder, _ name: StoreKey,
    coding: SealedFileCoding<Value>
  ) {
    core = SealedFileCore(folder: folder, name: name, coding: coding)
    core.register(wrappedValue)
  }

  /// The value of the file, or nil when there is none or it could not be read.
  public var wrappedValue: Value? {
    get { core.get() }
    nonmutating set { core.set(newValue) }
  }

  /// The wrapper itself: `$property.load()` and the like.
  public var projectedValue: SealedFileStore { self }
}

extension SealedFileStore where Value == Data {
  /// A property of the standard folder, or of another one.
  public init(
    wrappedValue: Value? = nil, _ name: StoreKey, in folder: SealedFolder = .standard
  ) {
    self.init(wrappedValue: wrappedValue, folder, name, coding: .bytes)
  }
}

extension SealedFileStore where Value == String {
  /// A property of the standard folder, or of another one.
  public init(
    wrappedValue: Value? = nil, _ name: StoreKey, in folder: SealedFolder = .standard
  ) {
    self.init(wrappedValue: wrappedValue, folder, name, coding: .text)
  }
}

/// A property that is a file of a sealed folder, made of a `Codable` value, and `nil` when there is none.
///
/// Kept as JSON unless another `CodableCoding` is given. In everything else as ``SealedFileStore``.
@propertyWrapper
public struct CodableSealedFileStore<Value: Codable>: OptionalSealedFileProperty, Sendable {
  /// Folder, name and coding.
  public let core: SealedFileCore<Value>

  /// A property of the standard folder, or of another one.
  ///
  /// - Parameters:
  ///   - wrappedValue: the initial value; nil is none.
  ///   - name: the name of the file.
  ///   - folder: where the file is.
  ///   - coding: how the value becomes bytes.
  public init(
    wrappedValue: Value? = nil, _ name: StoreKey, in folder: SealedFolder = .standard,
    coding: CodableCoding = .json
  ) {
    core = SealedFileCore(folder: folder, name: name, coding: .codable(coding))
    core.register(wrappedValue)
  }

  /// The value of the file, or nil when there is none or it could not be read.
  public var wrappedValue: Value? {
    get { core.get() }
    nonmutating set { core.set(newValue) }
  }

  /// The wrapper itself: `$property.load()` and the like.
  public var projectedValue: CodableSealedFileStore { self }
}

extension SealedFileStore: RedactedDescription {
  /// The name, and no value.
  public var description: String { "SealedFileStore(\"\(name)\")" }
}

extension CodableSealedFileStore: RedactedDescription {
  /// The name, and no value.
  public var description: String { "CodableSealedFileStore(\"\(name)\")" }
}
