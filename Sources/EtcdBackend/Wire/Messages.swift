internal import StorageCore

// The messages of etcd's API v3 that are used, by the field numbers of its rpc.proto and kv.proto.

/// Requests, as bytes.
enum EtcdRequest {
  /// Rows from `key` to before `end`, or the one row of `key`.
  static func range(
    _ key: [UInt8], to end: [UInt8]? = nil, limit: Int = 0, revision: UInt64 = 0,
    keysOnly: Bool = false
  ) -> [UInt8] {
    var message = ProtobufWriter()
    message.add(1, key)
    if let end { message.add(2, end) }
    message.add(3, UInt64(limit))
    message.add(4, revision)
    message.add(8, keysOnly ? 1 : 0)
    return message.bytes
  }

  /// One step of a transaction.
  enum Operation {
    case range(key: [UInt8])
    case put(key: [UInt8], value: [UInt8])
    case delete(key: [UInt8])

    fileprivate var bytes: [UInt8] {
      var operation = ProtobufWriter()
      switch self {
      case .range(let key): operation.add(1, EtcdRequest.range(key))
      case .put(let key, let value):
        var put = ProtobufWriter()
        put.add(1, key)
        put.add(2, value)
        operation.add(2, put.bytes)
      case .delete(let key):
        var delete = ProtobufWriter()
        delete.add(1, key)
        operation.add(3, delete.bytes)
      }
      return operation.bytes
    }
  }

  /// Operations that are done if each key has the revision given with it, and else others.
  static func transaction(
    checks: [(key: [UInt8], revision: UInt64)], success: [Operation], failure: [Operation] = []
  ) -> [UInt8] {
    var message = ProtobufWriter()
    for (key, revision) in checks {
      // `result` is EQUAL, which is 0 and left out.
      var compare = ProtobufWriter()
      compare.add(2, 2)  // `target`: MOD
      compare.add(3, key)
      compare.addOneOf(6, revision)
      message.add(1, compare.bytes)
    }
    for operation in success { message.add(2, operation.bytes) }
    for operation in failure { message.add(3, operation.bytes) }
    return message.bytes
  }

  /// All changes of rows from `key` to before `end`, from a revision on.
  static func watch(_ key: [UInt8], to end: [UInt8], from revision: UInt64) -> [UInt8] {
    var create = ProtobufWriter()
    create.add(1, key)
    create.add(2, end)
    create.add(3, revision)
    create.add(8, 1)  // `fragment`: an answer is at most as long as a request may be
    var message = ProtobufWriter()
    message.add(1, create.bytes)
    return message.bytes
  }

  static func authenticate(_ user: String, _ password: some Collection<UInt8>) -> [UInt8] {
    var message = ProtobufWriter()
    message.add(1, Array(user.utf8))
    message.add(2, password)
    return message.bytes
  }
}

/// A row as etcd has it.
struct EtcdRow {
  var key: ArraySlice<UInt8> = []
  var value: ArraySlice<UInt8> = []
  /// The revision of the last write.
  var revision: UInt64 = 0

  init(_ message: ArraySlice<UInt8>) throws(StorageError) {
    var reader = ProtobufReader(message)
    while let (field, value) = try reader.next() {
      switch field {
      case 1: key = value.bytes
      case 3: revision = try value.revision
      case 5: self.value = value.bytes
      default: break
      }
    }
  }
}

/// What every answer begins with.
struct EtcdHeader {
  var cluster: UInt64 = 0
  var member: UInt64 = 0
  /// The revision of the whole store.
  var revision: UInt64 = 0

  init() {}

  init(_ message: ArraySlice<UInt8>) throws(StorageError) {
    var reader = ProtobufReader(message)
    while let (field, value) = try reader.next() {
      switch field {
      case 1: cluster = value.number
      case 2: member = value.number
      case 3: revision = try value.revision
      default: break
      }
    }
  }
}

/// The answer to a range.
struct EtcdRange {
  var header = EtcdHeader()
  var rows: [EtcdRow] = []
  /// Whether there are rows beyond the limit.
  var hasMore = false

  init(_ message: ArraySlice<UInt8>) throws(StorageError) {
    var reader = ProtobufReader(message)
    while let (field, value) = try reader.next() {
      switch field {
      case 1: header = try EtcdHeader(value.bytes)
      case 2: rows.append(try EtcdRow(value.bytes))
      case 3: hasMore = value.number != 0
      default: break
      }
    }
  }
}

/// The answer to a transaction.
struct EtcdTransaction {
  var header = EtcdHeader()
  var isDone = false
  /// The answers to its ranges; other operations have none.
  var ranges: [EtcdRange] = []

  init(_ message: ArraySlice<UInt8>) throws(StorageError) {
    var reader = ProtobufReader(message)
    while let (field, value) = try reader.next() {
      switch field {
      case 1: header = try EtcdHeader(value.bytes)
      case 2: isDone = value.number != 0
      case 3:
        var operation = ProtobufReader(value.bytes)
        if let (field, value) = try operation.next(), field == 1 {
          ranges.append(try EtcdRange(value.bytes))
        }
      default: break
      }
    }
  }
}

/// One answer of a watch.
struct EtcdWatchAnswer {
  var header = EtcdHeader()
  var isCreated = false
  var isCancelled = false
  /// The first revision that can still be watched, if the watch asked for an earlier one.
  var compactedRevision: UInt64 = 0
  var reason = ""
  /// Whether the next answer belongs to the same revisions.
  var isFragment = false
  /// The rows; those with `isRemoval` are gone.
  var events: [(row: EtcdRow, isRemoval: Bool)] = []

  init(_ message: ArraySlice<UInt8>) throws(StorageError) {
    var reader = ProtobufReader(message)
    while let (field, value) = try reader.next() {
      switch field {
      case 1: header = try EtcdHeader(value.bytes)
      case 3: isCreated = value.number != 0
      case 4: isCancelled = value.number != 0
      case 5: compactedRevision = try value.revision
      case 6: reason = String(decoding: value.bytes, as: UTF8.self)
      case 7: isFragment = value.number != 0
      case 11:
        var event = ProtobufReader(value.bytes)
        var row: EtcdRow?
        var isRemoval = false
        while let (field, value) = try event.next() {
          switch field {
          case 1: isRemoval = value.number == 1
          case 2: row = try EtcdRow(value.bytes)
          default: break
          }
        }
        if let row { events.append((row, isRemoval)) }
      default: break
      }
    }
  }
}

/// What an authenticated user shows with each call.
struct EtcdToken {
  var text = ""

  init(_ message: ArraySlice<UInt8>) throws(StorageError) {
    var reader = ProtobufReader(message)
    while let (field, value) = try reader.next() {
      guard field == 2 else { continue }
      guard let exact = SystemText.exact(value.bytes) else {
        throw StorageError(.damaged, "etcd's token is no text")
      }
      text = exact
    }
  }
}
