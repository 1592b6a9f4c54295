extension FakeSecretService {
  /// How the fake behaves.
  ///
  /// By default it behaves as the specification says. A method is named like `GetSecrets`, or with
  /// its interface like `Item.Delete`; `*` means all methods.
  public struct Manners: Sendable {
    /// A service that behaves as the specification says and shows no prompts.
    public init() {}

    // MARK: Calls

    /// The fault of each method.
    ///
    /// The full name takes precedence over the short one, and the short one over `*`.
    public var faults: [String: Fault] = [:]

    /// Is called before each call is carried out, with a name such as `Item.Delete`.
    ///
    /// It runs on the fake's own thread and may use the fake: to lock a collection between a search
    /// and a read, for example.
    package var beforeEachCall: (@Sendable (_ method: String) -> Void)?

    /// How many times OpenSession fails at first, as KWallet's does now and then.
    package var failingSessions = 0

    /// How many of the first sessions have another key than the client, as KWallet's do once in
    /// 256: nobody can decrypt their secrets, and CreateItem leaves an empty item and fails.
    package var foreignKeys = 0

    /// The D-Bus error that answers calls of missing objects.
    package var missingObjectError = "org.freedesktop.Secret.Error.NoSuchObject"

    // MARK: Collections

    /// Whether the alias `default` leads to a collection.
    public var hasDefaultCollection = true

    /// Whether callers see any collection at all; stored items stay, but are hidden.
    package var hasCollections = true

    /// Whether collections that are made from now on are locked.
    public var startsLocked = false

    /// What callers see of the items of a locked collection.
    package var lockedItems = LockedItems.refused

    /// Whether searches in all collections are never answered while all of them are locked.
    package var lockedSearchHangs = false

    /// Whether one locked item makes GetSecrets refuse all items.
    package var refusesSecretsForLocked = false

    /// The error with which GetSecrets refuses all items if one is missing; nil to leave out that
    /// one.
    package var missingSecretError: String?

    // MARK: Prompts

    /// What needs a prompt.
    public var prompts: Set<PromptedOperation> = []

    /// What becomes of the prompts.
    public var promptAnswer = PromptAnswer.answered

    /// How long a prompt takes.
    public var promptDelay = Duration.zero

    /// Whether Completed is broadcast, so that only clients that asked the bus for it receive it.
    package var broadcastsCompleted = false

    // MARK: Items

    /// Attributes that an item has beside those that were given; those given do not replace them.
    package var addedAttributes: (@Sendable (Item) -> [String: String])?

    /// Whether a search for no attributes finds nothing instead of everything.
    package var emptySearchFindsNothing = false

    /// Names of attributes that are refused, such as `Password`.
    package var refusedAttributes: Set<String> = []

    /// Texts that no value of an attribute may contain, such as `{REF:`.
    package var refusedValues: Set<String> = []

    /// Whether an item without a label is refused.
    package var refusesEmptyLabel = false

    /// Whether replacing also takes an item that has the given attributes *and others*.
    package var replacesSupersets = false

    /// How secrets that are stored as `text/plain` are kept.
    package var textSecrets = TextSecrets.kept

    /// Whether every secret is said to be `text/plain`.
    package var forgetsContentTypes = false

    /// Whether CreateItem stores nothing and says that it did.
    package var storesNothing = false

    /// Whether Delete of an item removes nothing and says that it did.
    package var deletesNothing = false

    // MARK: Signals

    /// How many times ItemChanged is sent when a secret is changed.
    package var signalsPerSecretChange = 1

    /// How many times ItemChanged is sent when attributes or a label are changed.
    package var signalsPerAttributeChange = 1

    // MARK: Lies

    /// Which parts of the answers are false.
    package var lies: Lies = []

    /// These manners, with a fault in some methods.
    ///
    ///     FakeSecretService(on: bus, manners: .keePassXC.with(.hangs, in: "GetSecrets"))
    public func with(_ fault: Fault, in methods: String...) -> Manners {
      var manners = self
      for method in methods { manners.faults[method] = fault }
      return manners
    }

    /// These manners, changed.
    public func with(_ change: (inout Manners) -> Void) -> Manners {
      var manners = self
      change(&manners)
      return manners
    }
  }

  /// What callers see of the items of a locked collection.
  package enum LockedItems: Sendable {
    /// They are found, and reading or changing one fails with IsLocked.
    case refused
    /// They are not there.
    case hidden
    /// They are found; a secret is empty, and deleting one succeeds and does nothing.
    case empty
  }

  /// What may need a prompt.
  public enum PromptedOperation: Sendable, CaseIterable {
    /// Unlock of a collection that is locked.
    case unlock
    /// Lock of a collection that is unlocked.
    case lock
    /// CreateCollection.
    case createCollection
    /// Delete of a collection.
    case deleteCollection
    /// CreateItem.
    case createItem
    /// Delete of an item.
    case deleteItem
  }

  /// What becomes of a prompt.
  public enum PromptAnswer: Sendable {
    /// The user agrees.
    case answered
    /// The user closes it.
    case dismissed
    /// It stays until it is dismissed over the bus or by ``FakeSecretService/answerPrompts(_:)``.
    case waiting
    /// It never completes, whatever comes over the bus.
    case never
  }

  /// How secrets that are stored as `text/plain` are kept.
  package enum TextSecrets: Sendable {
    /// They stay as they are.
    case kept
    /// Bytes that are not UTF-8 are replaced.
    case repaired
    /// They are empty when they are not UTF-8, and end at a NUL.
    case cut
  }

  /// Which parts of the answers are false.
  ///
  /// Secrets stay as they are stored: ``FakeSecretService/items`` shows them.
  package struct Lies: OptionSet, Hashable, Sendable {
    /// The bits.
    package let rawValue: Int
    /// Lies of these bits.
    package init(rawValue: Int) { self.rawValue = rawValue }
    /// Secrets are those of another item, if there is one.
    package static let secretsOfOtherItems = Lies(rawValue: 1)
    /// Secrets lack their last byte; empty ones have one.
    package static let cutSecrets = Lies(rawValue: 2)
    /// Secrets are followed by 16 MiB of zeros.
    package static let longSecrets = Lies(rawValue: 4)
    /// Secrets name a session that does not exist.
    package static let foreignSessions = Lies(rawValue: 8)
    /// GetSecrets leaves out the last item.
    package static let missingSecrets = Lies(rawValue: 16)
    /// GetSecrets answers with an item that was not asked for, too.
    package static let extraSecrets = Lies(rawValue: 32)
    /// Searches and lists name items that are no objects of the service.
    package static let foreignPaths = Lies(rawValue: 64)
    /// Searches find every item, whatever its attributes.
    package static let foundItems = Lies(rawValue: 128)
    /// Every answer, and every prompt's result, has one number in place of the right values.
    package static let wrongTypes = Lies(rawValue: 256)
    /// Collections and items say that they are unlocked when they are not.
    package static let unlocked = Lies(rawValue: 512)
  }
}
