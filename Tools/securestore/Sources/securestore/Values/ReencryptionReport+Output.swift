internal import StorageCore

extension ReencryptionReport {
  /// What is left to look at, for people.
  ///
  /// - Parameters:
  ///   - key: what opens the old data key, too.
  ///   - command: what takes back what was set aside; nil where that was just done.
  /// - Returns: a sentence each.
  func left(
    underOldKeyThatOpensWith key: String, takenBackBy command: String? = "rotate --resume --readmit"
  ) -> [String] {
    var left: [String] = []
    if remaining > 0 {
      left.append(
        "\(Printable.count(remaining, "value")) can't be opened or \(remaining == 1 ? "is" : "are") not "
          + "accounted for, and \(remaining == 1 ? "stays" : "stay") under an old data key, which \(key) "
          + "opens as well; see verify")
    }
    if setAside > 0 {
      let names = setAsideKeys.isEmpty ? "" : " (\(setAsideKeys.joined(separator: ", ")))"
      let count = Printable.count(setAside, "value")
      let message =
        if let command {
          "\(count)\(names) can't be read: set aside, since the old data key has ended, or missing; see "
            + "verify, remove what is not yours, and take back the rest with \(command), with the "
            + "--authentication-tag that it was stored with, if any"
        } else {
          "\(count)\(names) can't be read still: none of the vault's keys opens what is there, or it is "
            + "missing; see verify. A backup may have it; repair takes the vault without it, and with "
            + "--drop-unreadable removes it"
        }
      left.append(Printable.line(message))
    }
    return left
  }
}
