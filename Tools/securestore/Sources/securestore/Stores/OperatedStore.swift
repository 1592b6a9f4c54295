internal import StorageCore
internal import VaultBackend

/// A store as the commands use it: a vault, a sealed folder, a suite, or a store that machines share.
///
/// A command hands itself to the store that its options name. What each kind of store does stands beside the command
/// or, for one that machines share, in `SharedStore+Operations.swift`. A kind that does not implement an operation refuses it.
protocol OperatedStore {
  /// What people call such a store, with its article.
  var kind: String { get }
  /// The absolute path, or the name of a store that machines share.
  var path: String { get }
  /// The store whose slots open this one: for a sealed folder, its index.
  var keys: any OperatedStore { get }

  /// The store of values, which must exist.
  func values(_ key: KeyOptions, _ access: StoreAccess) throws -> DelegatedStorage
  /// What opens the store; needs no key.
  func slots() throws -> [KeySlot]
  /// What a started program could read the key of the store from.
  func traces(_ key: KeyOptions) throws -> KeyTraces
  /// What doctor says of the store; `mayUseKeyring` is whether the keyring answers.
  func findings(_ key: KeyOptions, mayUseKeyring: Bool) throws -> [Finding]

  func initialize(_ command: InitCommand) throws
  func verify(_ command: VerifyCommand) throws -> Verification
  func repair(_ command: RepairCommand) throws -> Repair
  func backup(_ command: BackupCommand) throws
  func restore(_ command: RestoreCommand) throws
  func reset(_ command: ResetCommand) throws
  func compact(_ command: CompactCommand) throws
  func migrate(_ command: MigrateCommand) throws
  func rotate(_ command: RotateCommand) throws

  func addSlot(_ command: SlotsCommand.AddSlot) throws
  func changeSlots(_ command: SlotsCommand.ChangeSlots) throws
  func removeSlot(_ command: SlotsCommand.RemoveSlot) throws
  func acknowledge(_ command: SlotsCommand.AcknowledgeSlots) throws
  func promote(_ command: SlotsCommand.PromoteSlot) throws
  func forget(_ command: SlotsCommand.ForgetMachine) throws
}

extension OperatedStore {
  var keys: any OperatedStore { self }

  func values(_ key: KeyOptions) throws -> DelegatedStorage { try values(key, .readWrite) }
  func traces(_ key: KeyOptions) throws -> KeyTraces { KeyTraces(key, try slots()) }

  func initialize(_: InitCommand) throws { throw refusal }
  func verify(_: VerifyCommand) throws -> Verification { throw refusal }
  func repair(_: RepairCommand) throws -> Repair { throw refusal }
  func backup(_: BackupCommand) throws { throw refusal }
  func restore(_: RestoreCommand) throws { throw refusal }
  func compact(_: CompactCommand) throws { throw refusal }
  func migrate(_: MigrateCommand) throws { throw refusal }
  func rotate(_: RotateCommand) throws { throw refusal }
  func addSlot(_: SlotsCommand.AddSlot) throws { throw refusal }
  func changeSlots(_: SlotsCommand.ChangeSlots) throws { throw refusal }
  func removeSlot(_: SlotsCommand.RemoveSlot) throws { throw refusal }
  func acknowledge(_: SlotsCommand.AcknowledgeSlots) throws { throw isNotShared }
  func promote(_: SlotsCommand.PromoteSlot) throws { throw isNotShared }
  func forget(_: SlotsCommand.ForgetMachine) throws { throw isNotShared }

  private var refusal: Failure { Failure(.usage, "this command is not for \(kind)", path: path) }

  private var isNotShared: Failure {
    Failure(
      .usage, "only a store that machines share has this command; name it with --etcd or --postgres"
    )
  }
}

extension VaultPlace: OperatedStore {
  var kind: String { "a vault" }

  func values(_ key: KeyOptions, _ access: StoreAccess) throws -> DelegatedStorage {
    access == .readOnly ? try open(key, access) : try openForValues(key)
  }

  func slots() throws -> [KeySlot] {
    try requireThere()
    return try slots(of: path)
  }

  func traces(_ key: KeyOptions) throws -> KeyTraces { KeyTraces(key, try knownSlots(of: path)) }
}

extension FolderPlace: OperatedStore {
  var kind: String { "a sealed folder" }
  var keys: any OperatedStore { index }

  func values(_: KeyOptions, _: StoreAccess) throws -> DelegatedStorage {
    throw Failure(
      .usage, "the values of a sealed folder are files: use the commands of files", path: path)
  }

  func slots() throws -> [KeySlot] { try index.slots() }
}

extension SuitePlace: OperatedStore {
  var kind: String { "a suite" }

  func values(_ key: KeyOptions, _: StoreAccess) throws -> DelegatedStorage { try open(key) }

  func findings(_: KeyOptions, mayUseKeyring: Bool) throws -> [Finding] {
    throw Failure(.usage, "give --app ID, which looks at all stores of the application", path: path)
  }
}
