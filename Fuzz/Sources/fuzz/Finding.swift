/// What is being tried, for whoever has no libFuzzer that keeps it.
enum Trial {
  @TaskLocal static var description = ""
}

/// Ends the run; libFuzzer keeps the input.
func finding(_ what: String) -> Never { fatalError("finding: \(what)\(Trial.description)") }
