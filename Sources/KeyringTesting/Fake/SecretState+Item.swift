extension SecretState {
  /// Carries out a call of an item's methods.
  mutating func item(_ request: Request) throws(Refusal) -> [DBusValue] {
    guard let found = itemIndex(request.path) else { throw missing(request.path) }
    let isLocked = collections[found.collection].isLocked
    let arguments = request.arguments ?? []
    switch (request.member, arguments.count) {
    case ("Delete", 0):
      if isLocked, manners.lockedItems == .empty { return [.objectPath("/")] }
      guard !isLocked else { throw .isLocked(request.path) }
      let path = request.path
      let answer = prompting(.deleteItem, request, orElse: .string("")) { state in
        if !state.manners.deletesNothing { state.removeItem(path) }
        return .string("")
      }
      return [answer[1]]
    case ("GetSecret", 1):
      guard let session = arguments[0].text else { throw .invalidArguments("a session is needed") }
      guard sessions.contains(session) else { throw .noSession }
      if isLocked, manners.lockedItems != .empty { throw .isLocked(request.path) }
      return [secret(found, session: session)]
    case ("SetSecret", 1):
      guard !isLocked else { throw .isLocked(request.path) }
      let (secret, contentType) = try readSecret(arguments[0])
      changeItem(request.path, signals: manners.signalsPerSecretChange) { item in
        item.secret = secret
        item.contentType = contentType
      }
      return []
    default: throw .unusable(request)
    }
  }

  /// An item's secret as it is answered: `(oayays)`.
  func secret(_ found: (collection: Int, item: Int), session: String) -> DBusValue {
    let collection = collections[found.collection]
    var item = collection.items[found.item]
    if manners.lies.contains(.secretsOfOtherItems) {
      let all = visibleCollections.flatMap(\.items)
      item = all.first { $0.path != item.path } ?? item
    }
    var bytes = collection.isLocked ? [] : item.secret
    if manners.lies.contains(.cutSecrets) { bytes = bytes.isEmpty ? [0] : bytes.dropLast() }
    if manners.lies.contains(.longSecrets) { bytes += [UInt8](repeating: 0, count: 16 << 20) }
    let isForeign = manners.lies.contains(.foreignSessions) || foreignSessions.contains(session)
    let named = isForeign ? "/org/example/session" : session
    let contentType = manners.forgetsContentTypes ? "text/plain" : item.contentType
    return .tuple([.objectPath(named), .bytes([]), .bytes(bytes), .string(contentType)])
  }

  /// The bytes of a received secret, and its content type, as they are kept.
  func readSecret(_ value: DBusValue) throws(Refusal) -> (secret: [UInt8], contentType: String) {
    guard let parts = value.elements, parts.count == 4, let session = parts[0].text,
      let bytes = parts[2].bytes, let contentType = parts[3].text
    else { throw .invalidArguments("a secret is needed") }
    guard sessions.contains(session) else { throw .noSession }
    guard !foreignSessions.contains(session) else {
      throw Refusal(
        name: "org.qtproject.QtDBus.Error.InvalidObjectPath", message: "no session \(session)")
    }
    guard contentType.hasPrefix("text/plain") else { return (bytes, contentType) }
    return (manners.textSecrets.kept(bytes), contentType)
  }
}

extension FakeSecretService.TextSecrets {
  /// The part of a text that is kept.
  fileprivate func kept(_ bytes: [UInt8]) -> [UInt8] {
    switch self {
    case .kept: return bytes
    case .repaired: return Array(String(decoding: bytes, as: UTF8.self).utf8)
    case .cut:
      guard String(validating: bytes, as: UTF8.self) != nil else { return [] }
      return Array(bytes.prefix { $0 != 0 })
    }
  }
}
