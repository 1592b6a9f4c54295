import Foundation
import InjectRegistry
import Synchronization

/// Injected dependencies, beside a global constant and a dictionary behind a mutex.
enum Injection {
  struct WrongValue: Error {}

  /// Readers as programs declare them.
  private struct Reader: Sendable {
    @UnwrappedInject var service: any Service
    @Inject var optional: (any Service)?
    @UnwrappedInject(.instance) var new: Worker
    @UnwrappedInject var plain: Plain
  }

  /// The least a program could do.
  private static let global: any Service = Worker()
  private static let dictionary = Mutex<[ObjectIdentifier: any Service]>([
    ObjectIdentifier((any Service).self): Worker()
  ])

  /// Registers once: what is registered anew is read behind a lock by whoever has read the old one.
  private static let register: Void = {
    @Register var service = { Worker() as any Service }
    @Register var new = { Worker() }
    @Register var plain = { Plain() }
  }()

  static func comparisons() -> [Comparison] {
    _ = register
    let reader = Reader()
    let storage = InjectStorage.standard
    let many = Crowd.storage(of: 1_000)
    let one = Crowd.storage(of: 1)
    return [
      compare("inject: global let", limit: nil, target: nil) { global.answer },
      compare("inject: wrapper read", limit: 20, target: 0.9) { reader.service.answer },
      compare("inject: optional wrapper read", limit: 20, target: 0.9) {
        reader.optional?.answer ?? 0
      },
      compare("inject: resolve, specialised", limit: 30, target: 1.3) {
        try storage.resolve((any Service).self).answer
      },
      compare("inject: resolve, opaque", limit: 80, target: 3.5) {
        try opaque.resolve((any Service).self).answer
      },
      Comparison(
        "inject: new instance", against: "its initialiser", in: .injection, limitAbove: 100,
        floor: loop { make().answer }, ours: loop { reader.new.answer }),
      Comparison(
        "inject: resolve, 1,000 registrations", against: "resolve, 1 registration",
        in: .injection, target: 1.1, allocationLimit: 0,
        floor: loop { try one.resolve((any Service).self).answer },
        ours: loop { try many.resolve((any Service).self).answer }),
      overridden("inject: wrapper read, overridden", reader) { $0.service.answer },
      overridden("inject: wrapper read beside an override", reader) { $0.plain.answer },
    ]
  }

  private static func compare(
    _ name: String, limit: Double?, target: Double?, _ body: @escaping () throws -> Int
  ) -> Comparison {
    Comparison(
      name, against: "a dictionary behind a Mutex", in: .injection, target: target, limit: limit,
      allocationLimit: 0,
      floor: loop {
        dictionary.withLock { $0[ObjectIdentifier((any Service).self)] }?.answer ?? 0
      },
      ours: loop(body))
  }

  /// Reads while a task has an override; that is made once for each batch.
  private static func overridden(
    _ name: String, _ reader: Reader, _ body: @escaping (Reader) -> Int
  ) -> Comparison {
    Comparison(
      name, against: "a dictionary behind a Mutex", in: .injection, limit: 110,
      // The override itself is made once.
      allocationLimit: 0.1,
      floor: loop {
        dictionary.withLock { $0[ObjectIdentifier((any Service).self)] }?.answer ?? 0
      },
      ours: { rounds in
        try InjectStorage.withOverrides {
          @Register var double: any Service = Worker()
          try loop { body(reader) }(rounds)
        }
      })
  }

  /// The same loop around each call, into which the call is not inlined on either side.
  private static func loop(_ body: @escaping () throws -> Int) -> (Int) throws -> Void {
    { rounds in
      var sum = 0
      for _ in 0..<rounds { sum &+= try body() }
      guard sum == rounds &* 3 else { throw WrongValue() }
    }
  }

  @inline(never)
  private static func make() -> Worker { Worker() }

  /// Which one it is, is decided when the program runs, so nobody specialises its generic call.
  private static let opaque: any Opaque =
    CommandLine.arguments.isEmpty ? Elsewhere() : Standard()

  /// Two threads that read one dependency; and that copy one reference, which is the least that it
  /// takes.
  static func contention() -> [Figure] {
    _ = register
    let reader = Reader()
    let shared = Shared(Worker())
    return [
      figure("inject: two threads, one dependency", limit: 150) { reader.service.answer },
      figure("inject: two threads, one reference", limit: nil) { shared.service.answer },
    ]
  }

  /// Nanoseconds of a thread's processor time for a call, while two threads make it.
  ///
  /// Waiting for the other's cache line counts; waiting for a core that others have does not. What
  /// was read is summed up in the thread: one place where both leave it would cost more than the
  /// reads.
  private static func figure(
    _ name: String, limit: Double?, _ body: @escaping @Sendable () -> Int
  ) -> Figure {
    let rounds = 500_000
    let times = Mutex<[Double]>([])
    for _ in 0..<9 {
      let group = DispatchGroup()
      for _ in 0..<2 {
        group.enter()
        Thread.detachNewThread {
          let start = Clock.thread.nanoseconds
          var sum = 0
          for _ in 0..<rounds { sum &+= body() }
          let taken = (Clock.thread.nanoseconds - start) / Double(rounds)
          precondition(sum == rounds * 3)
          times.withLock { $0.append(taken) }
          group.leave()
        }
      }
      group.wait()
    }
    return Figure(name: name, value: times.withLock { $0.median }, unit: "ns", limit: limit)
  }
}

/// A reference that each reader is given a copy of.
private final class Shared: Sendable {
  private let kept: any Service
  init(_ kept: any Service) { self.kept = kept }
  var service: any Service { @inline(never) get { kept } }
}

private protocol Opaque: Sendable {
  func resolve<Value: Sendable>(_ type: Value.Type) throws -> Value
}

private struct Standard: Opaque {
  func resolve<Value: Sendable>(_ type: Value.Type) throws -> Value {
    try InjectStorage.standard.resolve(type)
  }
}

private struct Elsewhere: Opaque {
  let storage = InjectStorage()
  func resolve<Value: Sendable>(_ type: Value.Type) throws -> Value { try storage.resolve(type) }
}

private protocol Service: Sendable { var answer: Int { get } }

private final class Worker: Service {
  private let number = 3
  var answer: Int { @inline(never) get { number } }
}

private struct Plain: Sendable {
  private let worker = Worker()
  var answer: Int { worker.answer }
}

/// As many types as one wants: each is another instance of a generic one.
private struct Crowd<Member>: Sendable {
  /// A storage with so many registrations, the service among them.
  static func storage(of count: Int) -> InjectStorage where Member == Int {
    let storage = InjectStorage()
    storage.register { Worker() as any Service }
    func fill<Next>(_: Next.Type, _ left: Int) {
      guard left > 0 else { return }
      storage.register { Crowd<Next>() }
      _ = try? storage.resolve(Crowd<Next>.self)
      fill(Crowd<Next>.self, left - 1)
    }
    // Two chains, so that the names of the types stay short enough.
    fill(Int.self, (count - 1) / 2)
    fill(String.self, count - 1 - (count - 1) / 2)
    return storage
  }
}
