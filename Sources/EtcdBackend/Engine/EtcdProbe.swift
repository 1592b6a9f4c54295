internal import CGRPC
internal import CryptoCore
internal import Dispatch
internal import StorageCore

/// Finds out why no connection to a member can be made, which gRPC does not tell.
enum EtcdProbe {
  /// How long the handshake may take, in milliseconds.
  private static let span: Int32 = 450

  /// What the look at a member showed.
  enum Verdict: Sendable {
    /// It can be reached.
    case good
    /// No call to it can succeed as the program is configured.
    case refused(StorageError)
    /// It can't be told now.
    case unknown
  }

  /// Looks at a member.
  static func verdict(
    of endpoint: EtcdEndpoint, _ certificates: EtcdCertificates.Texts?
  ) -> Verdict {
    let found = Lock(Verdict.unknown)
    let end = DispatchSemaphore(value: 0)
    // On a thread of its own: the look-up of a name takes as long as it takes.
    DetachedThread.start("sps-probe") {
      let verdict = ask(endpoint, certificates)
      found.withLock { $0 = verdict }
      end.signal()
    }
    _ = end.wait(timeout: .now() + .milliseconds(500))
    return found.withLock { $0 }
  }

  private static func ask(
    _ endpoint: EtcdEndpoint, _ certificates: EtcdCertificates.Texts?
  ) -> Verdict {
    var reason = [CChar](repeating: 0, count: 128)
    let result = unsafe sps_probe(
      endpoint.host, "\(endpoint.port)", endpoint.isEncrypted ? certificates?.authority : nil,
      certificates?.certificate, certificates?.key, span, &reason, reason.count)
    let text = unsafe SystemText.shown(reason)
    func refusal(_ code: StorageError.Code, _ message: String) -> Verdict {
      .refused(StorageError(code, message, path: endpoint.text))
    }
    return switch UInt32(result) {
    case SPS_PROBE_CLEAR.rawValue:
      refusal(.invalid, "no encryption is spoken here; use http://, or etcd's encrypted port")
    case SPS_PROBE_ENCRYPTED.rawValue:
      refusal(.invalid, "encryption is spoken here; use https://")
    case SPS_PROBE_STRANGE.rawValue:
      refusal(.invalid, "something answers here that is not etcd; check the endpoint")
    case SPS_PROBE_REFUSED.rawValue:
      refusal(
        .denied,
        "etcd's certificate is not one of the given authority, has another name, or has expired: "
          + text)
    case SPS_PROBE_REFUSES.rawValue:
      refusal(.denied, "etcd refuses this program's certificate, or asks for one: \(text)")
    case SPS_PROBE_GOOD.rawValue: .good
    default: .unknown
    }
  }
}
