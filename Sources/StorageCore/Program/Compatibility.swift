public import struct FoundationEssentials.Data

// Names of the Apple package that this package does not need; they let old code compile.

/// An actor that isolates no storage: storages may be used from anywhere.
@available(*, deprecated, message: "storages are Sendable and need no actor")
@globalActor
public actor StorageActor {
  /// The instance that the attribute names.
  public static let shared = StorageActor()
}

/// The type that delegates used to exchange; records are now `[UInt8]`.
@available(*, deprecated, message: "a StorageDelegate keeps sealed records as [UInt8]")
public typealias StorageData = Data
