internal import CryptoCore
internal import Foundation
internal import PostgresBackend
internal import RemoteBackend
internal import StorageCore

/// A store in PostgreSQL that the operator named, and the sources of its key.
struct PostgresPlace: SharedStore {
  let kind = "a store in PostgreSQL"
  let engine = "PostgreSQL"
  private let configuration: PostgresConfiguration
  private let authenticationTag: Data?
  let place: VaultPlace
  /// The store's name, for messages.
  let path: String

  init(_ connection: String, _ store: String, _ options: StoreOptions) throws {
    path = store
    let deadline = Duration.milliseconds(Int64(max(options.wait, 1) * 1000))
    var configuration = PostgresConfiguration(
      connection, store: store, schema: options.schema ?? "securestore", deadline: deadline)
    // Doctor says it, and not each command.
    configuration.saysCautions = false
    if let text = options.postgresPasswordCommand {
      let command = KeyCommand(
        try CommandWords.words(of: text, "--postgres-password-command"),
        timeout: options.commandTimeout?.duration)
      configuration.password = { () throws(StorageError) in try command.line() }
    }
    self.configuration = configuration
    guard try !configuration.namesPassword else {
      throw Failure(
        .usage,
        "the connection holds a password, which everybody on this machine can see in the list of processes; "
          + "change it, and give it by libpq's passfile, a service file, PGPASSWORD or "
          + "--postgres-password-command")
    }
    authenticationTag = options.tag
    place = try VaultPlace(
      path: "/postgresql", application: options.app, authenticationTag: authenticationTag,
      deadline: deadline, commandTimeout: options.commandTimeout?.duration)
  }

  func storage(_ source: KeySource) -> RemoteStorage { postgres(source) }

  private func postgres(_ source: KeySource) -> PostgresStorage {
    PostgresStorage(
      configuration, keySource: source, reading: .linearizable,
      authenticationTag: authenticationTag)
  }

  /// Makes the tables where there are none, and the store; with `--sql`, prints what makes the tables.
  func initialize(_ command: InitCommand) throws {
    guard !command.printsSQL else {
      return try Output.write(
        PostgresSchema.migration(schema: configuration.schema))
    }
    try postgres(.firstAvailable([])).makeTables()
    try make(command)
  }

  /// What each server says: one that can lose what it has acknowledged is not good.
  func engineFindings() throws -> [Finding] {
    try postgres(.firstAvailable([])).servers().map { server in
      let subject = "PostgreSQL \(server.address)"
      if let failure = server.failure {
        return Finding(subject, .bad, Failure(failure).line, code: failure.code)
      }
      let milliseconds = Double(server.latency.components.attoseconds / 1_000_000_000_000) / 1000
      let facts = [
        "version \(server.version)", server.isPrimary ? "primary" : "standby",
        "timeline \(server.timeline)", "answered in \(milliseconds) ms",
      ]
      return Finding(
        subject, server.caution == nil ? .good : .bad,
        (facts + [server.caution].compactMap(\.self)).joined(separator: ", "))
    }
  }
}
