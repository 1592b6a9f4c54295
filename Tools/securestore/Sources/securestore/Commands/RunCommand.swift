internal import ArgumentParser
internal import StorageCore
internal import VaultBackend

/// Runs a program that is given values.
struct RunCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run", abstract: "Run a program with values as environment variables.",
    discussion: """
      The program takes the place of this one, with the same process id, and behind -- stands what it \
      is and its arguments. Nothing is written to a disk. Without an option it gets all values, each \
      under its own name; with --only, --env or --fd it gets what they name, and with --all the others \
      too. Text is given as it is, other types as get writes them. A name that can't be a variable is \
      refused, unless --names makes one of it: underscore puts _ for all but ASCII letters and digits, \
      upper makes capitals of the letters besides. The program gets no key: the variable of --key-env, \
      or of a slot of the vault, is left out, and a descriptor that a passphrase was read from is \
      closed. Its exit code is that of this command; 127 is that it is not there, 126 that it can't be \
      run.
      """)

  @Option(
    help: ArgumentHelp(
      "A value to give under its own name; several with commas between them.", valueName: "names"),
    completion: ValueName.completion)
  var only: [String] = []

  @Option(
    name: .customLong("env"),
    help: ArgumentHelp(
      "A value to give in a variable of another name; may be given often.",
      valueName: "variable=name"))
  var variables: [NameForVariable] = []

  @Option(
    name: .customLong("fd"),
    help: ArgumentHelp(
      "A value to give in a file descriptor, 0 or from 3 on, and in no variable; may be given often.",
      valueName: "number=name"))
  var descriptors: [NameForDescriptor] = []

  @Flag(name: .customLong("all"), help: "Give all values, besides what is named.")
  var givesAll = false

  @Option(
    name: .customLong("names"),
    help: "What becomes of names that can't be variables: exact refuses them.")
  var mapping = VariableNames.exact

  @OptionGroup(title: "Vault") var vault: VaultOptions
  @OptionGroup(title: "Key") var key: KeyOptions
  @OptionGroup(title: "Output") var output: OutputOptions

  @Argument(
    parsing: .postTerminator,
    help: ArgumentHelp("The program and its arguments, behind --.", valueName: "command"))
  var command: [String] = []

  func validate() throws {
    guard let program = command.first, !program.isEmpty else {
      throw ValidationError(
        "say what is to be run behind --, as in: securestore run --only TOKEN -- program argument")
    }
  }

  func run() throws {
    let place = try vault.place()
    let keys = try KeyTraces(key, place)
    let (variables, files) = try given(by: place)
    var environment = ChildEnvironment(without: keys.variables)
    try environment.add(variables)
    // The vault is closed by now, as it was: what follows closes descriptors of all kinds.
    keys.close()
    try ChildDescriptors.place(files)
    throw environment.execute(command)
  }

  /// The values by where they are to go.
  private func given(
    by place: VaultPlace
  ) throws -> (variables: [ChildEnvironment.Variable], files: [(number: Int32, bytes: [UInt8])]) {
    let storage = try place.open(key, .readOnly)
    func bytes(_ name: String) throws -> [UInt8] {
      guard let value = try StoredValue(name, in: storage) else { throw ValueName.absent(name) }
      return value.bytes
    }
    try ChildDescriptors.check(descriptors.map(\.number))
    let files = try descriptors.map { ($0.number, try bytes($0.name)) }
    var variables = try self.variables.map {
      ChildEnvironment.Variable($0.variable, try bytes($0.name), of: $0.name)
    }
    let named = Set((self.variables.map(\.name) + descriptors.map(\.name)).map { Array($0.utf8) })
    let names = try plainNames(storage, place.path, but: named)
    let refused = names.filter { mapping.variable(of: $0) == nil }
    guard refused.isEmpty else { throw Self.refusal(refused) }
    for name in names {
      variables.append(
        ChildEnvironment.Variable(mapping.variable(of: name) ?? "", try bytes(name), of: name))
    }
    return (variables, files)
  }

  /// The names of the values whose variables have their name.
  private func plainNames(
    _ storage: VaultStorage, _ path: String, but named: Set<[UInt8]>
  ) throws -> [String] {
    let only = only.flatMap { $0.split(separator: ",").map(String.init) }
    let isAll = givesAll || only.isEmpty && variables.isEmpty && descriptors.isEmpty
    guard isAll else { return only.withoutRepetition }
    let listing = try storage.listing()
    guard listing.unreadable == 0 else {
      throw Failure(
        .damaged,
        "\(Printable.count(listing.unreadable, "value")) can't be read, and nothing was run; see verify. "
          + "--only names those that are needed", path: path)
    }
    return (only + listing.keys.filter { !named.contains(Array($0.utf8)) }).withoutRepetition
      .sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }

  private static func refusal(_ names: [String]) -> Failure {
    Failure(
      .unsupported,
      "nothing was run, since these names can't be those of variables, or steer how programs start: "
        + names.prefix(10).joined(separator: ", ")
        + (names.count > 10 ? " and \(names.count - 10) more" : "")
        + ". --only names others, --env VARIABLE=NAME says the variable of one, --names underscore or upper "
        + "makes variables of names")
  }
}
