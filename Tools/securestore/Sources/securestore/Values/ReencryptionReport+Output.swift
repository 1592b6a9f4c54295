internal import StorageCore

extension ReencryptionReport: JSONConvertible {
  var json: JSONValue {
    [
      "reencrypted": reencrypted, "remaining": remaining, "setAside": setAside,
      "setAsideNames": setAsideKeys,
    ]
  }

  /// The values that still need attention, for people.
  ///
  /// - Parameters:
  ///   - key: the key that also opens the old data key.
  ///   - command: the command that takes back values that were set aside; nil if it was just run.
  /// - Returns: one sentence for each group of values.
  func left(
    underOldKeyThatOpensWith key: String, takenBackBy command: String? = "rotate --resume --readmit"
  ) -> [String] {
    var left: [String] = []
    if remaining > 0 {
      left.append(
        "\(Printable.count(remaining, "value")) can't be opened or \(remaining == 1 ? "is" : "are") not "
          + "accounted for, and \(remaining == 1 ? "stays" : "stay") sealed with an old data key, "
          + "which \(key) opens, too; see verify")
    }
    if setAside > 0 {
      let names = setAsideKeys.isEmpty ? "" : " (\(setAsideKeys.joined(separator: ", ")))"
      let count = Printable.count(setAside, "value")
      let message =
        if let command {
          "\(count)\(names) can't be read: \(setAside == 1 ? "it is" : "they are") missing, or "
            + "\(setAside == 1 ? "was" : "were") set aside when the old data key was removed. Run verify, "
            + "remove what is not yours, and take back the rest with \(command), with the "
            + "--authentication-tag of the values, if they have one"
        } else {
          "\(count)\(names) still can't be read: no key of the vault opens them, or they are "
            + "missing; see verify. A backup may have them; repair accepts the vault without them, and with "
            + "--drop-unreadable removes them"
        }
      left.append(Printable.line(message))
    }
    return left
  }
}
