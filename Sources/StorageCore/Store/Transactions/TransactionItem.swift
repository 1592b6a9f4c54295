/// What a transaction read and wrote under one name.
struct TransactionItem {
  /// What the first read found.
  enum Seen {
    case nothing
    case record(SealedStore.Sealed)
  }

  /// What to write.
  enum Written {
    case nothing
    case payload(PlainPayload)
  }

  let name: RecordName
  /// Nil when the name was not read.
  var seen: Seen?
  /// Nil when the name was not written.
  var written: Written?

  /// The condition under which the item's read still holds at commit.
  var condition: RecordWrite.Condition {
    switch seen {
    case nil: .always
    case .nothing: .absent
    case .record(let sealed): .equals(sealed.record)
    }
  }

  /// The record that was read, or nil when there was none.
  var seenRecord: [UInt8]? {
    guard case .record(let sealed) = seen else { return nil }
    return sealed.record
  }

  /// The payload to store, or nil.
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
