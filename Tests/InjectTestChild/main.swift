import CAllocationCounter
import InjectRegistry

// A program with an allocator that counts. It says what 1,000 reads of each kind ask of it.

protocol API: Sendable { var name: String { get } }
protocol Special {}

final class Client: API, Special {
  let name: String
  init(_ name: String) { self.name = name }
}

/// A value with more in it than an existential has room for.
struct Settings: Sendable {
  let client: Client
  let texts = [String](repeating: "a text that needs a block of its own", count: 5)
  let numbers = (1, 2, 3)
}

final class Worker: Sendable {}

/// Reads while it is given up.
final class Last: Sendable {
  deinit {
    do { try Program.reads(1, "in a deinit") } catch { print("no read in a deinit: \(error)") }
  }
}

struct Reader: Sendable {
  @UnwrappedInject var api: any API
  @Inject var optional: (any API)?
  @UnwrappedInject(Client.self) var qualified: any API
  @UnwrappedInject(group: "shop") var ofAGroup: any API
  @UnwrappedInject var settings: Settings
  @UnwrappedInject(.session("login")) var ofASession: Settings
  @UnwrappedInject(.instance) var worker: Worker
}

enum Program {
  static func register() {
    @Register var api = { Client("program") as any API }
    @Register(group: "shop") var ofAGroup = { Client("shop") as any API }
    @Register var settings = { Settings(client: Client("settings")) }
    @Register var worker = { Worker() }
    @Register var last = { Last() }
  }

  /// Tells how many blocks 1,000 reads asked for, after `warmUp` of them.
  static func count(_ name: String, warmUp: Int, _ read: () throws -> Void) rethrows {
    for _ in 0..<warmUp { try read() }
    let before = allocations_of_thread()
    for _ in 0..<1_000 { try read() }
    let made = allocations_of_thread() - before
    print(name, made)
  }

  static func reads(_ warmUp: Int, _ place: String) throws {
    let reader = Reader()
    let storage = InjectStorage.standard
    count("a property \(place)", warmUp: warmUp) { _ = reader.api.name }
    count("an optional property \(place)", warmUp: warmUp) { _ = reader.optional?.name }
    count("a qualified property \(place)", warmUp: warmUp) { _ = reader.qualified.name }
    count("a property of a group \(place)", warmUp: warmUp) { _ = reader.ofAGroup.name }
    count("a property of a struct \(place)", warmUp: warmUp) { _ = reader.settings.numbers.1 }
    try count("a type \(place)", warmUp: warmUp) { _ = try storage.resolve((any API).self).name }
  }

  static func run() throws {
    register()
    // A hundred reads publish an instance; before that, it is behind a lock.
    InjectStorage.standard.reset()
    let reader = Reader()
    count("a property of a session", warmUp: 1) { _ = reader.ofASession.numbers.1 }
    count("a new instance", warmUp: 1) { _ = reader.worker }
    try reads(200, "that is published")
    register()
    try reads(1, "behind its lock")
    try InjectStorage.withOverrides {
      @Register var api: any API = Client("double")
      try reads(1, "inside overrides")
    }
    _ = try InjectStorage.standard.resolve(Last.self)
    InjectStorage.standard.reset()
  }
}

try Program.run()
