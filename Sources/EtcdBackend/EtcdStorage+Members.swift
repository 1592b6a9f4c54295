internal import RemoteBackend
public import StorageCore

/// What one member of etcd says about itself.
public struct EtcdMember: Sendable {
  /// Its address, as the program gave it.
  public let endpoint: String
  /// Why it did not answer; nil if it did, and then the rest says something.
  public let failure: StorageError?
  /// etcd's version.
  public let version: String
  /// Whether it leads; false, too, while there is no leader.
  public let isLeader: Bool
  /// Whether it knows of a leader; without one, nothing is written.
  public let hasLeader: Bool
  /// The size of its database in bytes.
  public let databaseSize: UInt64
  /// What it complains of itself, such as a database that has reached its quota.
  public let complaints: [String]
  /// How long its answer took.
  public let latency: Duration
  /// From when to when its certificate is good; nil without encryption.
  public let certificate: EtcdValidity?
}

extension EtcdStorage {
  /// Asks each member about itself; needs no key.
  ///
  /// A user of etcd without the root role may be refused the answer; that is then the failure.
  ///
  /// - Throws: `StorageError` for a configuration that is wrong.
  public func members() throws(StorageError) -> [EtcdMember] {
    let place = try delegate.place() as RemotePlace
    guard let engine = place.engine as? EtcdEngine else { return [] }
    return engine.members()
  }
}

extension EtcdEngine {
  fileprivate func members() -> [EtcdMember] {
    endpointTexts.indices.map { index in
      let start = MonotonicTime.now
      var status = EtcdStatus()
      var failure: StorageError?
      var certificate: EtcdValidity?
      do throws(StorageError) {
        status = try EtcdStatus(
          ask(index, "/etcdserverpb.Maintenance/Status") { certificate = EtcdValidity(of: $0) }[...]
        )
      } catch {
        failure = error
      }
      return EtcdMember(
        endpoint: endpointTexts[index], failure: failure, version: status.version,
        isLeader: status.leader != 0 && status.leader == status.header.member,
        hasLeader: status.leader != 0, databaseSize: status.databaseSize,
        complaints: status.errors, latency: .nanoseconds(MonotonicTime.now.since(start)),
        certificate: certificate)
    }
  }
}

/// The answer to a question about a member.
private struct EtcdStatus {
  var header = EtcdHeader()
  var version = ""
  var databaseSize: UInt64 = 0
  var leader: UInt64 = 0
  var errors: [String] = []

  init() {}

  init(_ message: ArraySlice<UInt8>) throws(StorageError) {
    var reader = ProtobufReader(message)
    while let (field, value) = try reader.next() {
      switch field {
      case 1: header = try EtcdHeader(value.bytes)
      case 2: version = String(decoding: value.bytes, as: UTF8.self)
      case 3: databaseSize = value.number
      case 4: leader = value.number
      case 8: errors.append(String(decoding: value.bytes, as: UTF8.self))
      default: break
      }
    }
  }
}
