extension FakeSecretService {
  // Actions of the user, or of another program, on the items. They are carried out whatever the
  // manners say about calls; the manners decide about their signals.

  /// Adds an item, as another program does.
  ///
  /// - Parameters:
  ///   - label: what people call it.
  ///   - attributes: the attributes that it is found by.
  ///   - secret: its secret, kept byte for byte.
  ///   - contentType: the declared content type of the secret.
  ///   - collection: the label, the alias or the path of its collection.
  /// - Returns: its path; nil when there is no such collection.
  @discardableResult
  public func addItem(
    label: String, attributes: [String: String], secret: [UInt8],
    contentType: String = "text/plain", to collection: String = "default"
  ) -> String? {
    var path: String?
    update { state in
      guard let index = state.collectionIndex(named: collection) else { return }
      let item = Item(
        path: "\(state.collections[index].path)/\(state.nextNumber())", label: label,
        attributes: attributes, secret: secret, contentType: contentType,
        created: SecretState.now, modified: SecretState.now)
      state.addItem(item, to: index)
      path = item.path
    }
    return path
  }

  /// Changes an item's secret, as another program does.
  public func setSecret(_ secret: [UInt8], of path: String) {
    update { state in
      state.changeItem(path, signals: state.manners.signalsPerSecretChange) { $0.secret = secret }
    }
  }

  /// Removes an item, as another program does.
  public func removeItem(_ path: String) {
    update { $0.removeItem(path) }
  }

  /// Adds a collection.
  ///
  /// - Parameters:
  ///   - label: what people call it.
  ///   - alias: an alias that leads to it, if any.
  /// - Returns: its path.
  @discardableResult
  package func addCollection(label: String, alias: String = "") -> String {
    var path = ""
    update { path = $0.makeCollection(label: label, alias: alias) }
    return path
  }

  /// Locks a collection, given by its label, alias or path.
  public func lock(_ collection: String = "default") { setLocked(true, collection) }

  /// Unlocks a collection, given by its label, alias or path.
  public func unlock(_ collection: String = "default") { setLocked(false, collection) }

  /// Locks an item, and nothing else in its collection, as KeePassXC does for each program.
  package func lockItem(_ path: String) { update { $0.lockedItems.insert(path) } }

  /// Ends all prompts that are on the screen.
  ///
  /// - Parameter answer: `answered` or `dismissed`; other values leave the prompts open.
  public func answerPrompts(_ answer: PromptAnswer) {
    guard answer == .answered || answer == .dismissed else { return }
    update { state in
      for (path, prompt) in state.prompts where prompt.isShown {
        state.complete(path, dismissed: answer == .dismissed)
      }
    }
  }

  private func setLocked(_ isLocked: Bool, _ name: String) {
    update { state in
      guard let index = state.collectionIndex(named: name) else { return }
      state.setLocked(isLocked, state.collections[index].path)
    }
  }
}

extension SecretState {
  /// The collection with a label, an alias or a path, whether callers see it or not.
  fileprivate func collectionIndex(named name: String) -> Int? {
    collections.firstIndex { $0.path == aliases[name] }
      ?? collections.firstIndex { $0.label == name || $0.path == name }
  }
}
