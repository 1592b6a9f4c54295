import CGRPCFacts
import Testing

/// The package declares by itself what it calls of gRPC; a difference would be a crash.
struct GRPCDeclarationTests {
  private static func facts(_ first: UnsafePointer<grpc_fact>) -> [String] {
    var result: [String] = []
    var next = unsafe first
    while unsafe next.pointee.name.pointee != 0 {
      let fact = unsafe next.pointee
      let text = unsafe fact.text.map { unsafe String(cString: $0) } ?? "\(unsafe fact.value)"
      result.append("\(unsafe String(cString: fact.name)) is \(text)")
      unsafe next += 1
    }
    return result
  }

  @Test func theyAreThoseOfGRPCsOwnHeaders() {
    let ours = unsafe Self.facts(grpc_facts_ours())
    let theirs = unsafe Self.facts(grpc_facts_theirs())
    #expect(ours.count > 100)
    #expect(ours == theirs)
  }
}
