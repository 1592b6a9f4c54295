internal import StorageCore

/// A value whose material the program is being asked for, by this task.
///
/// A provider or passcode closure that uses the value would be asked for the same material again,
/// and so on without end. Such a call is found where it asks again.
struct AskedMaterial: Sendable {
  /// The values that this task, or one that started it, is asking for.
  @TaskLocal private static var all: Set<PlaceAddress> = []

  let address: PlaceAddress

  /// Throws `invalid` if the task is already asking for the material of this value.
  ///
  /// `asked` names who is asked.
  func check(_ asked: String) throws(StorageError) {
    guard Self.all.contains(address) else { return }
    throw StorageError(
      .invalid,
      "\(asked) used the value \"\(address.name)\" while it was asked for the key material of that "
        + "value, so it would be asked again for ever; let it read its material from elsewhere",
      key: address.name)
  }

  /// Runs `body`, which asks for the material.
  func during<Result>(_ body: () throws -> Result) throws -> Result {
    try Self.$all.withValue(Self.all.union([address]), operation: body)
  }

  /// Runs `body`, which asks for the material.
  func during<Result: Sendable>(_ body: @Sendable () async throws -> Result) async throws -> Result
  {
    try await Self.$all.withValue(Self.all.union([address]), operation: body)
  }
}
