/// What a transaction knows of one name.
struct TransactionItem {
  /// What was there at the first look.
  enum Seen {
    case nothing
    case record(SealedStore.Sealed)
  }

  /// What is to be there.
  enum Written {
    case nothing
    case payload(PlainPayload)
  }

  let name: RecordName
  /// Nil when nobody looked.
  var seen: Seen?
  /// Nil when nobody wrote.
  var written: Written?

  /// What must hold at the end for all that was read to have been so at one moment.
  var condition: RecordWrite.Condition {
    switch seen {
    case nil: .always
    case .nothing: .absent
    case .record(let sealed): .equals(sealed.record)
    }
  }

  /// The record that was seen, if there was one.
  var seenRecord: [UInt8]? {
    guard case .record(let sealed) = seen else { return nil }
    return sealed.record
  }

  /// The payload to keep, if there is one.
  var payload: PlainPayload? {
    guard case .payload(let payload) = written else { return nil }
    return payload
  }
}

@available(*, unavailable)
extension TransactionItem: Sendable {}

extension TransactionItem: CustomReflectable {
  /// A mirror of the name alone.
  var customMirror: Mirror { Mirror(self, children: ["name": name.text]) }
}
