internal import ArgumentParser

/// Whether the operator already agreed, with `--yes`, that the command ends keys.
struct ConsentOptions: ParsableArguments {
  @Flag(name: .customLong("yes"), help: "Don't ask before keys end.") var isConfirmed = false
}
