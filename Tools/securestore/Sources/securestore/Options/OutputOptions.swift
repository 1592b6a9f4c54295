internal import ArgumentParser

/// How a command answers.
struct OutputOptions: ParsableArguments {
  @Flag(name: .customLong("json"), help: "Answer in JSON, errors too.")
  var isJSON = false

  @Flag(
    name: [.customLong("quiet"), .customShort("q")], help: "Say nothing that was not asked for.")
  var isQuiet = false

  var output: Output { Output(isJSON: isJSON, isQuiet: isQuiet) }
}
