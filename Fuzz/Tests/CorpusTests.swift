import Foundation
import Testing

/// `make fuzz` in small, as part of `make test`: a fifth of a second each, without libFuzzer.
struct CorpusTests {
  private static let seconds = 0.2

  @Test(arguments: Target.all.map(\.name)) func noTargetFindsAnything(_ name: String) throws {
    let target = try #require(Target.all.first { $0.name == name })
    let check = try target.make()
    func attempt(_ input: [UInt8]) {
      let bytes = Data(input).base64EncodedString()
      Trial.$description.withValue(", of \(name): \(bytes)") {
        do { try check(input) } catch { finding("\(error)") }
      }
    }
    let corpus = try target.seeds() + target.corpus()
    for input in corpus { attempt(input) }
    let seed = UInt64.random(in: .min ... .max)
    var generator = Neighbours.Generator(seed)
    let end = Date.now + Self.seconds
    var count = 0
    while Date.now < end {
      // A few steps away from an input that reaches far.
      var input = corpus[generator.next(below: corpus.count)]
      for _ in 0...generator.next(below: 3) where !input.isEmpty {
        input = generator.change(input, generator.next(below: 7))
        attempt(input)
        count += 1
      }
    }
    print("fuzz: \(name), \(corpus.count) kept and \(count) new inputs, seed \(seed)")
  }
}
