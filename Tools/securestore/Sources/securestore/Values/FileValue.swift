/// A value of a JSON or YAML file, before it gets a name and a type.
indirect enum FileValue {
  case json(JSONValue)
  /// A scalar of YAML whose value depends on the type that the user asks for.
  case plain(PlainScalar)
  case object([(String, FileValue)])

  /// The value by the rules of the file's format.
  ///
  /// - Throws: `Failure` for a scalar that readers of YAML take for different values.
  func json() throws -> JSONValue {
    switch self {
    case .json(let json): return json
    case .plain(let scalar): return try scalar.value.get()
    case .object(let members): return .object(try members.map { ($0, try $1.json()) })
    }
  }

  /// The members of an object; nil for any other value.
  var members: [(String, FileValue)]? {
    switch self {
    case .json(.object(let members)): members.map { ($0, .json($1)) }
    case .object(let members): members
    case .json, .plain: nil
    }
  }

  /// The value as the user gives it to a storage.
  ///
  /// - Throws: as `json()`.
  func given() throws -> GivenValue {
    if case .plain(let scalar) = self { .plain(scalar) } else { .json(try json()) }
  }
}
