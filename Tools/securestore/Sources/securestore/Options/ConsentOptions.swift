internal import ArgumentParser

/// Whether the operator has said yes already to what a command is going to end.
struct ConsentOptions: ParsableArguments {
  @Flag(name: .customLong("yes"), help: "Don't ask before keys end.") var isConfirmed = false
}
