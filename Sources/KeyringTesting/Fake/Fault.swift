extension FakeSecretService {
  /// What goes wrong with a call.
  public struct Fault: Sendable {
    enum Effect: Sendable {
      case hang(carriesOut: Bool)
      case answerLate(Duration)
      case refuse(Refusal)
      case die(carriesOut: Bool)
      case answer([DBusValue])
    }

    let effect: Effect
    var skipped = 0
    var remaining = Int.max

    private init(_ effect: Effect) { self.effect = effect }

    /// The call does nothing and is never answered.
    public static let hangs = Fault(.hang(carriesOut: false))

    /// The call is carried out and never answered.
    package static let carriesOutAndHangs = Fault(.hang(carriesOut: true))

    /// The connection to the bus is dropped, and the call does nothing.
    public static let dies = Fault(.die(carriesOut: false))

    /// The call is carried out, and the connection to the bus is dropped before the answer.
    package static let carriesOutAndDies = Fault(.die(carriesOut: true))

    /// The call is carried out at once and answered after that time.
    public static func answersLate(_ delay: Duration) -> Fault { Fault(.answerLate(delay)) }

    /// The call does nothing and is answered with a D-Bus error.
    public static func refuses(_ name: String, message: String = "refused on purpose") -> Fault {
      Fault(.refuse(Refusal(name: name, message: message)))
    }

    /// The call does nothing and is answered with these values, whether they fit or not.
    package static func answers(_ values: DBusValue...) -> Fault { Fault(.answer(values)) }

    /// The same fault, in some calls only.
    ///
    /// - Parameters:
    ///   - times: how many calls it affects.
    ///   - skipping: how many calls work before that.
    /// - Returns: a fault that counts its calls from the moment it is set.
    public func only(_ times: Int = 1, skipping: Int = 0) -> Fault {
      var fault = self
      fault.skipped = skipping
      fault.remaining = times
      return fault
    }
  }
}

extension FakeSecretService.Manners {
  /// The fault of this call, which is used up by it.
  mutating func takeFault(_ request: Request) -> FakeSecretService.Fault.Effect? {
    guard
      let key = [request.method, request.member, "*"].first(where: { faults[$0] != nil }),
      var fault = faults[key]
    else { return nil }
    defer { faults[key] = fault }
    if fault.skipped > 0 {
      fault.skipped -= 1
      return nil
    }
    guard fault.remaining > 0 else { return nil }
    fault.remaining -= 1
    return fault.effect
  }
}
