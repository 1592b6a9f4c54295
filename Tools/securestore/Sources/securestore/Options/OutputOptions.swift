internal import ArgumentParser

/// The options for the form of the answer.
struct OutputOptions: ParsableArguments {
  @Flag(name: .customLong("json"), help: "Answer in JSON, errors too.")
  var isJSON = false

  @Flag(
    name: [.customLong("quiet"), .customShort("q")], help: "Suppress notes.")
  var isQuiet = false

  var output: Output { Output(isJSON: isJSON, isQuiet: isQuiet) }
}
