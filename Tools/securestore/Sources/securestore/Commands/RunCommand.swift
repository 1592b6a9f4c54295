internal import ArgumentParser
internal import StorageCore
internal import VaultBackend

/// Runs a program and passes values to it.
struct RunCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run", abstract: "Run a program with values as environment variables.",
    discussion: """
      Put the program and its arguments behind --. The program replaces this one; nothing is written to disk. \
      It gets the values that --only, --env and --fd name; --all adds the others. Other types than text are \
      passed as get writes them. A name that can't be a variable is refused, unless --names converts it: \
      underscore writes _ for every byte that is not an ASCII letter or digit; upper also writes capitals. \
      Variables of the loader, of shells, proxies and certificates are set only by --env. The program gets no \
      key. The exit code is the program's; 127 if it is not found, 126 if it can't be run.
      """)

  @Option(
    help: ArgumentHelp(
      "Values to pass under their own names, separated by commas.", valueName: "names"),
    completion: ValueName.completion)
  var only: [String] = []

  @Option(
    name: .customLong("env"),
    help: ArgumentHelp(
      "A value to pass in the variable of this name; may be repeated.",
      valueName: "variable=name"))
  var variables: [NameForVariable] = []

  @Option(
    name: .customLong("fd"),
    help: ArgumentHelp(
      "A value to pass in a file descriptor, 0 or from 3 on, and not in a variable; may be repeated.",
      valueName: "number=name"))
  var descriptors: [NameForDescriptor] = []

  @Flag(name: .customLong("all"), help: "Pass all other values too.")
  var givesAll = false

  @Option(
    name: .customLong("names"),
    help: "How to convert names that can't be variables; exact refuses them.")
  var mapping = VariableNames.exact

  @OptionGroup(title: "Store") var store: StoreOptions
  @OptionGroup(title: "Key") var key: KeyOptions
  @OptionGroup(title: "Output") var output: OutputOptions

  @Argument(
    parsing: .postTerminator,
    help: ArgumentHelp("The program and its arguments, behind --.", valueName: "command"))
  var command: [String] = []

  func validate() throws {
    guard let program = command.first, !program.isEmpty else {
      throw ValidationError(
        "name the program behind --, for example: securestore run --only TOKEN -- program argument")
    }
    guard givesAll || !(only.isEmpty && variables.isEmpty && descriptors.isEmpty) else {
      throw ValidationError(
        "say which values the program gets: --only NAMES, --env VARIABLE=NAME, --fd NUMBER=NAME, or --all "
          + "for all values of the vault")
    }
    let names = only.flatMap { $0.split(separator: ",", omittingEmptySubsequences: false) }
    guard !names.contains("") else {
      throw ValidationError("--only has an empty name; perhaps a variable in it is not set")
    }
  }

  func run() throws {
    let place = try store.place()
    let keys = try place.traces(key)
    let (variables, files) = try given(by: place)
    var environment = ChildEnvironment(without: keys.variables)
    try environment.add(variables)
    // The vault must be closed by now: the next calls close descriptors of all kinds.
    keys.close()
    try ChildDescriptors.place(files)
    throw environment.execute(command)
  }

  /// The values, by variables and descriptors.
  private func given(
    by place: any OperatedStore
  ) throws -> (variables: [ChildEnvironment.Variable], files: [(number: Int32, bytes: [UInt8])]) {
    let storage = try place.values(key, .readOnly)
    func bytes(_ name: String) throws -> [UInt8] {
      guard let value = try StoredValue(name, in: storage) else {
        throw ValueName.absent(name, in: storage)
      }
      return value.bytes
    }
    try ChildDescriptors.check(descriptors.map(\.number))
    let files = try descriptors.map { ($0.number, try bytes($0.name)) }
    var variables = try self.variables.map {
      ChildEnvironment.Variable($0.variable, try bytes($0.name), of: $0.name)
    }
    let named = Set((self.variables.map(\.name) + descriptors.map(\.name)).map { Array($0.utf8) })
    let names = try plainNames(storage, place.path, but: named)
    for (name, variable) in try plainVariables(of: names) {
      variables.append(ChildEnvironment.Variable(variable, try bytes(name), of: name))
    }
    return (variables, files)
  }

  /// The names of the values whose variables carry the same name.
  private func plainNames(
    _ storage: DelegatedStorage, _ path: String, but named: Set<[UInt8]>
  ) throws -> [String] {
    let only = only.flatMap { $0.split(separator: ",").map(String.init) }
    guard givesAll else { return only.withoutRepetition }
    let listing = try storage.listing()
    guard listing.unreadable == 0 else {
      throw Failure(
        .damaged,
        "nothing was run: " + KeyListing.unreadable(listing.unreadable)
          + ", or name the values that the program needs with --only", path: path)
    }
    return (only + listing.own.filter { !named.contains(Array($0.utf8)) }).withoutRepetition
      .sortedByBytes
  }

  /// The variables of values that no option gives a variable.
  ///
  /// - Throws: `Failure` for a name that can't be a variable, and for a variable that controls
  ///   programs.
  private func plainVariables(of names: [String]) throws -> [(name: String, variable: String)] {
    let all = names.map { ($0, mapping.variable(of: $0)) }
    let invalid = all.filter { $0.1 == nil }.map(\.0)
    guard invalid.isEmpty else {
      throw Failure(
        .unsupported,
        "nothing was run: these names can't be variables: \(invalid.listed). Select others with "
          + "--only, name a variable with --env VARIABLE=NAME, or convert names with --names underscore or "
          + "upper")
    }
    let variables = all.map { (name: $0.0, variable: $0.1 ?? "") }
    let steering = variables.compactMap { entry in
      SteeringVariables.reader(of: entry.variable).map { "\(entry.variable) (read by \($0))" }
    }
    guard steering.isEmpty else {
      throw Failure(
        .unsupported,
        "nothing was run: these variables would control programs: \(steering.listed). "
          + "Select other values with --only, or name such a variable with --env VARIABLE=NAME if you want "
          + "that")
    }
    return variables
  }
}
