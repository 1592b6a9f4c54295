import KeyringTesting
import StorageCore
import Testing

@testable import KeyringBackend

/// One row of the table in docs/keyring-failures.md, or one of several ways to it.
struct FailureRow: Sendable, CustomTestStringConvertible {
  /// What the table calls it.
  let line: String
  /// What tells it from others of the line.
  var way = ""
  /// What a read gives; nil where it goes on.
  let read: StorageError.Code?
  /// What a write gives; nil where it goes on.
  let write: StorageError.Code?
  var prompts = KeyringAccess.PromptPolicy.always
  /// The collection that is asked for.
  var group: String?
  /// Whether by a program that has not used the store before.
  var isFresh = false
  /// Whether other keys are as they should be.
  var isOfOneKey = false
  /// The bus that is found; nil for the fake's.
  var client: KeyringClient?
  /// Whether the write is a deletion.
  var isDeletion = false
  /// Makes it so; may be called again, to make it so once more.
  let goWrong: @Sendable (FakeDesktop) throws -> Void

  var testDescription: String { way.isEmpty ? line : "\(line): \(way)" }

  /// In a hurry only where the time is to run out: a busy machine is slow for the others.
  var access: KeyringAccess {
    if read == .timedOut { return .hasty }
    let deadline = line == Self.noAnswer ? KeyringAccess.brisk.deadline : .seconds(30)
    return KeyringAccess(deadline: deadline, promptDeadline: .seconds(30), prompts: prompts)
  }

  /// A storage that finds it so.
  func storage(_ desktop: FakeDesktop, _ access: KeyringAccess) -> KeychainStorage {
    desktop.storage(access, group: group, client: client, freshClient: isFresh)
  }

  /// The write.
  func change(_ storage: KeychainStorage) throws {
    if isDeletion {
      try storage.delete(forKey: "key")
    } else {
      try storage.save("new", forKey: "key")
    }
  }

  private static let noAnswer = "no answer to the write itself"

  static let all = buses + services + collections + prompting + items

  /// The rows that are no state of a service: tests of their own have them.
  static let elsewhere: Set = [
    "the task is cancelled", "the process was forked", "eight threads make 1,000 calls each",
    "`SECRET_BACKEND=file` is set",
  ]

  private static let buses = [
    // The tests have no bus of the session: `theTestsHaveNoSessionBusOfTheirOwn`.
    FailureRow(
      line: "there is no address of a bus", read: .noBus, write: .noBus, client: .session
    ) { _ in },
    FailureRow(line: "nobody answers at the address", read: .noBus, write: .noBus) {
      $0.bus.kill()
    },
    FailureRow(
      line: "the bus takes the connection and says nothing", read: .timedOut, write: .timedOut
    ) { $0.bus.suspend() },
    FailureRow(line: "the bus was restarted", read: nil, write: nil) {
      try $0.bus.restart()
      try $0.service.restart()
    },
  ]

  private static let services = [
    FailureRow(line: "no service is on the bus", read: .noService, write: .noService) {
      $0.service.stop()
    },
    FailureRow(line: "the service says nothing", read: .timedOut, write: .timedOut) {
      $0.service.manners.faults["*"] = .hangs
    },
    FailureRow(
      line: "the service says nothing", way: "to reads", read: .timedOut, write: .timedOut
    ) { $0.service.manners.faults["GetSecrets"] = .hangs },
    FailureRow(
      line: "the service dies in mid-call, and is not started again", read: .noService,
      write: .noService
    ) { $0.service.manners.faults["*"] = .dies },
    FailureRow(
      line: "the service dies in mid-call, and is not started again", way: "in the write itself",
      read: nil, write: .outcomeUnknown
    ) {
      // Here and not after a write, since a read goes before the next one.
      try $0.service.restart()
      $0.service.manners.faults["CreateItem"] = .dies
    },
    FailureRow(line: "the service was restarted", read: nil, write: nil) {
      try $0.service.restart()
    },
    FailureRow(line: noAnswer, read: nil, write: .outcomeUnknown) {
      $0.service.manners.faults["CreateItem"] = .hangs
    },
    FailureRow(line: "the service refuses", read: .denied, write: .denied) {
      $0.service.manners.faults["*"] = .refuses("org.freedesktop.DBus.Error.AccessDenied")
    },
  ]

  private static let collections = [
    FailureRow(
      line: "there is no default collection, or none of the name", read: .noCollection,
      write: .noCollection
    ) {
      $0.service.manners.hasCollections = false
      $0.service.manners.hasDefaultCollection = false
    },
    FailureRow(
      line: "there is no default collection, or none of the name", way: "of the name",
      read: .noCollection, write: .noCollection, group: "Nobody's"
    ) { _ in },
    FailureRow(
      line: "locked, and no prompt may be shown", read: .locked, write: .locked, prompts: .never
    ) {
      $0.service.change { $0.prompts = [.unlock] }
      $0.service.lock()
    },
    FailureRow(line: "locked, and the prompt is answered", read: nil, write: nil) {
      $0.service.change { $0.prompts = [.unlock] }
      $0.service.lock()
    },
  ]

  private static let prompting =
    [
      FailureRow(line: "the prompt never ends", read: .timedOut, write: .timedOut) {
        $0.service.change {
          $0.prompts = [.unlock]
          $0.promptAnswer = .never
        }
        $0.service.lock()
      },
      FailureRow(
        line: "a store after a prompt that kept nothing", read: nil, write: .outcomeUnknown
      ) {
        $0.service.change {
          $0.prompts = [.createItem]
          $0.storesNothing = true
        }
      },
      dismissed("the prompt is dismissed", .gnomeKeyring),
    ]
    + [
      ("locked as KeePassXC is: items vanish", FakeSecretService.Manners.keePassXC),
      ("locked as KWallet is: secrets are empty", .kWallet),
    ].flatMap { line, manners in
      [
        dismissed(line, manners),
        FailureRow(
          line: line, way: "no prompt", read: .locked, write: .locked, prompts: .never
        ) {
          $0.service.change { $0 = manners.with { $0.prompts = [.unlock] } }
          $0.service.lock()
        },
        FailureRow(line: line, way: "answered", read: nil, write: nil) {
          $0.service.change { $0 = manners.with { $0.prompts = [.unlock] } }
          $0.service.lock()
        },
      ]
    }

  private static func dismissed(
    _ line: String, _ manners: FakeSecretService.Manners
  ) -> FailureRow {
    FailureRow(line: line, way: "dismissed", read: .dismissed, write: .dismissed) {
      $0.service.change {
        $0 = manners.with {
          $0.prompts = [.unlock]
          $0.promptAnswer = .dismissed
        }
      }
      $0.service.lock()
    }
  }

  private static let items =
    [
      FailureRow(
        line: "a delete that deleted nothing", read: nil, write: .outcomeUnknown, isDeletion: true
      ) { $0.service.manners.deletesNothing = true },
      several("", isDeletion: false) { $0?.count == 128 },
      several("for a deletion", isDeletion: true) { $0?.count == 128 },
      several("for the header", isDeletion: false) { $0 == "header" },
      FailureRow(
        line: "the header of a store is gone, its records are not", read: .damaged,
        write: .damaged, isFresh: true
      ) { desktop in
        for item in desktop.service.items where item.attributes["record"] == "header" {
          desktop.service.removeItem(item.path)
        }
      },
    ]
    + [
      ("of the wrong type", FakeSecretService.Lies.wrongTypes),
      ("secrets of other items", .secretsOfOtherItems), ("secrets cut short", .cutSecrets),
      ("secrets of another session", .foreignSessions),
    ].map { way, lies in
      FailureRow(
        line: "answers of the wrong type, secrets of other items or cut short", way: way,
        read: .damaged, write: .damaged
      ) { $0.service.manners.lies = lies }
    }

  private static func several(
    _ way: String, isDeletion: Bool, _ isOne: @escaping @Sendable (String?) -> Bool
  ) -> FailureRow {
    FailureRow(
      line: "several items for one name", way: way, read: .duplicate, write: .duplicate,
      isFresh: true, isOfOneKey: true, isDeletion: isDeletion
    ) { desktop in
      let items = desktop.service.items.filter { isOne($0.attributes["record"]) }
      guard items.count == 1 else { return }
      desktop.service.addItem(
        label: "copy", attributes: items[0].attributes, secret: items[0].secret)
    }
  }
}
