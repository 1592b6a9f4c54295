extension SecretState {
  /// Does something now, or makes a prompt for it.
  ///
  /// - Returns: the resulting path and "/", or "/" and the prompt's path.
  mutating func prompting(
    _ kind: FakeSecretService.PromptedOperation, _ request: Request, orElse nothing: DBusValue,
    _ operation: @escaping @Sendable (inout SecretState) -> DBusValue
  ) -> [DBusValue] {
    guard manners.prompts.contains(kind) else { return [operation(&self), .objectPath("/")] }
    return [.objectPath("/"), .objectPath(addPrompt(request, orElse: nothing, operation))]
  }

  mutating func addPrompt(
    _ request: Request, orElse nothing: DBusValue,
    _ operation: @escaping @Sendable (inout SecretState) -> DBusValue
  ) -> String {
    let path = SecretServiceName.root + "/prompt/p\(nextNumber())"
    prompts[path] = Prompt(caller: request.sender, operation: operation, nothing: nothing)
    return path
  }

  /// Carries out a call of a prompt's methods.
  mutating func prompt(_ request: Request) throws(Refusal) -> [DBusValue] {
    guard prompts[request.path] != nil else { throw missing(request.path) }
    switch request.member {
    case "Prompt": prompts[request.path]?.isShown = true
    case "Dismiss":
      if manners.promptAnswer != .never { complete(request.path, dismissed: true) }
    default: throw .unusable(request)
    }
    return []
  }

  /// Ends a prompt, and does what it is for unless it was dismissed.
  mutating func complete(_ path: String, dismissed: Bool) {
    guard let prompt = prompts.removeValue(forKey: path) else { return }
    var result = dismissed ? prompt.nothing : prompt.operation(&self)
    if manners.lies.contains(.wrongTypes) { result = .uint32(42) }
    outbox.append(
      Signal(
        path: path, interface: SecretServiceName.interface("Prompt"), member: "Completed",
        body: [.boolean(dismissed), .variant(result)],
        destination: manners.broadcastsCompleted ? nil : prompt.caller))
  }

  /// Carries out a call of a session's methods.
  mutating func session(_ request: Request) throws(Refusal) -> [DBusValue] {
    guard sessions.contains(request.path) else { throw missing(request.path) }
    guard request.member == "Close" else { throw .unusable(request) }
    sessions.remove(request.path)
    return []
  }
}
