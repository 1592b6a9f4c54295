public import struct Foundation.Data

// Names of the Apple package that this one has no need of, so that old code compiles.

/// An actor that nothing here is isolated to: storages may be used from anywhere.
@available(*, deprecated, message: "storages are Sendable and need no actor")
@globalActor
public actor StorageActor {
  /// The instance that the attribute names.
  public static let shared = StorageActor()
}

/// What used to be the currency of delegates; records are `[UInt8]` now.
@available(*, deprecated, message: "a StorageDelegate keeps sealed records as [UInt8]")
public typealias StorageData = Data
