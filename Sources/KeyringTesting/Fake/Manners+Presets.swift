extension FakeSecretService.Manners {
  /// As gnome-keyring 42 behaves: no prompts, locked items refuse, no signal for a changed secret.
  public static let gnomeKeyring = FakeSecretService.Manners().with {
    $0.prompts = [.unlock, .createCollection, .deleteCollection]
    $0.lockedItems = .refused
    $0.signalsPerSecretChange = 0
    $0.replacesSupersets = true
    $0.forgetsContentTypes = true
    $0.missingObjectError = "org.freedesktop.DBus.Error.UnknownMethod"
  }

  /// As KeePassXC 2.7 behaves: a prompt for every create and delete, attributes of its own.
  ///
  /// Completed is broadcast, locked items vanish, and ItemChanged is sent six times.
  public static let keePassXC = FakeSecretService.Manners().with {
    $0.prompts = [.unlock, .createCollection, .deleteCollection, .createItem, .deleteItem]
    $0.broadcastsCompleted = true
    $0.lockedItems = .hidden
    $0.lockedSearchHangs = true
    $0.refusesSecretsForLocked = true
    $0.signalsPerSecretChange = 6
    $0.signalsPerAttributeChange = 6
    $0.replacesSupersets = true
    $0.textSecrets = .repaired
    $0.missingObjectError = "org.freedesktop.DBus.Error.UnknownObject"
    $0.emptySearchFindsNothing = true
    $0.refusedAttributes = ["Password"]
    $0.refusedValues = ["{REF:"]
    $0.addedAttributes = { item in
      let number = item.path.split(separator: "/").last.flatMap { UInt64($0) } ?? 0
      let digits = String(number, radix: 16)
      var added = [
        "Title": item.label, "Path": "/" + item.label, "UserName": "", "URL": "", "Notes": "",
        "Uuid": String(repeating: "0", count: max(0, 32 - digits.count)) + digits,
      ]
      if !item.contentType.hasPrefix("text/plain") {
        added["FDO_SECRETS_CONTENT_TYPE"] = item.contentType
      }
      return added
    }
  }

  /// As KWallet 5 behaves: locked at first, and while it is, secrets are empty.
  ///
  /// While it is locked, deletes only claim to succeed. Text is cut, an empty label is refused, and
  /// changed attributes send no signal.
  public static let kWallet = FakeSecretService.Manners().with {
    $0.prompts = [.unlock, .createCollection]
    $0.startsLocked = true
    $0.lockedItems = .empty
    $0.missingSecretError = "org.freedesktop.DBus.Error.InvalidArgs"
    $0.signalsPerAttributeChange = 0
    $0.replacesSupersets = true
    $0.textSecrets = .cut
    $0.missingObjectError = "org.freedesktop.DBus.Error.UnknownObject"
    $0.refusesEmptyLabel = true
  }
}
