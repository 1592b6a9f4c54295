internal import CryptoCore
package import Foundation
internal import StorageCore

/// A proxy between programs and one member, which treats their connections as a test wants.
package final class FaultProxy: Sendable {
  /// What becomes of what is sent.
  package enum Mode: Sendable {
    /// It arrives.
    case pass
    /// It arrives later, by so many milliseconds.
    case delay(Int)
    /// So many bytes a second arrive.
    case slow(Int)
    /// Nothing arrives in either direction, and connections stay open.
    case mute
    /// Requests arrive, and answers don't.
    case muteAnswers
    /// The next request of each connection arrives; then the connection is closed.
    case cutAfterRequest
    /// Answers arrive after these bytes.
    case answersAfter([UInt8])
    /// Connections are closed at once.
    case refuse
  }

  package let port: Int
  private let target: Int
  private let listener: Int32
  private let state = Lock(State())

  private struct State {
    var mode = Mode.pass
    var isEnded = false
    var count = 0
    var connections = 0
    var captured: Data?
  }

  /// Begins to keep all that passes; ``captured`` is what was kept.
  package func capture() { state.withLock { $0.captured = Data() } }

  /// How many connections were made to it.
  package var connections: Int { state.withLock { $0.connections } }

  package var captured: Data { state.withLock { $0.captured ?? Data() } }

  /// A proxy to a port of this machine.
  package init(to target: Int) {
    self.target = target
    (listener, port) = FreePorts.listen()
    let listener = listener
    DetachedThread.start("proxy") { [weak self] in
      while true {
        let client = accept(listener, nil, nil)
        guard client >= 0 else {
          guard errno == EINTR else { return }
          continue
        }
        guard let self else {
          _ = close(client)
          return
        }
        state.withLock { ($0.count, $0.connections) = ($0.count + 1, $0.connections + 1) }
        DetachedThread.start("proxy-pair") { self.serve(client) }
      }
    }
  }

  /// Closes it and all its connections.
  package func end() {
    state.withLock { $0.isEnded = true }
    shutdown(listener, Int32(SHUT_RDWR))
    while state.withLock({ $0.count }) > 0 { usleep(1_000) }
    close(listener)
  }

  package var mode: Mode {
    get { state.withLock { $0.mode } }
    set { state.withLock { $0.mode = newValue } }
  }

  /// Treats connections in a mode for so many microseconds.
  package func treat(_ mode: Mode, for span: UInt32) {
    self.mode = mode
    usleep(span)
    self.mode = .pass
  }

  private func serve(_ client: Int32) {
    defer {
      close(client)
      state.withLock { $0.count -= 1 }
    }
    guard let server = FreePorts.connect(target) else { return }
    defer { close(server) }
    var hasSent = false
    while true {
      var ready = [
        pollfd(fd: client, events: Int16(POLLIN), revents: 0),
        pollfd(fd: server, events: Int16(POLLIN), revents: 0),
      ]
      // Some milliseconds, so that a change of the mode is seen.
      _ = unsafe poll(&ready, 2, 5)
      let (mode, isEnded) = state.withLock { ($0.mode, $0.isEnded) }
      guard !isEnded else { return }
      if case .refuse = mode { return }
      if case .mute = mode {
        usleep(1_000)
        continue
      }
      if ready[0].revents != 0 {
        if case .delay(let milliseconds) = mode { usleep(UInt32(milliseconds) * 1_000) }
        guard move(client, server) else { return }
        if case .cutAfterRequest = mode { hasSent = true }
      }
      if ready[1].revents != 0 {
        if case .cutAfterRequest = mode, hasSent { return }
        if case .muteAnswers = mode {
          usleep(1_000)
          continue
        }
        if case .answersAfter(let bytes) = mode, !put(bytes[...], client) { return }
        guard move(server, client) else { return }
      }
    }
  }

  private func move(_ from: Int32, _ to: Int32) -> Bool {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    let count = unsafe read(from, &buffer, buffer.count)
    guard count > 0 else { return false }
    if case .slow(let rate) = mode { usleep(UInt32(count * 1_000_000 / rate)) }
    state.withLock { $0.captured?.append(contentsOf: buffer.prefix(count)) }
    return put(buffer.prefix(count), to)
  }

  private func put(_ bytes: ArraySlice<UInt8>, _ to: Int32) -> Bool {
    var rest = bytes
    while !rest.isEmpty {
      let written = unsafe rest.withUnsafeBytes {
        unsafe send(to, $0.baseAddress!, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard written > 0 else { return false }
      rest = rest.dropFirst(written)
    }
    return true
  }
}
