internal import ArgumentParser

/// Whether the operator already agreed, with `--yes`, that the command removes keys.
struct ConsentOptions: ParsableArguments {
  @Flag(name: .customLong("yes"), help: "Don't ask before removing keys.") var isConfirmed = false
}
