internal import ArgumentParser
internal import StorageCore

/// For commands that lock out the machines which have not said that they open another slot.
struct AcknowledgementOptions: ParsableArguments {
  @Flag(
    name: .customLong("unacknowledged"),
    help: "Go on although no machine has said which slots it opens.")
  var isMissing = false
}

extension SlotsCommand {
  /// Says which slots this machine's key opens.
  struct AcknowledgeSlots: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "acknowledge",
      abstract: "Say in a store that machines share which slots this machine's key opens.",
      discussion: """
        Run it on each machine after a new key has arrived there. slots remove and slots promote then know \
        which machines they would lock out. A program says it by acknowledge().
        """)

    @Option(help: "The machine's name; default: its host name.") var machine: String?

    @OptionGroup(title: "Store") var store: StoreOptions
    @OptionGroup(title: "Key") var key: KeyOptions
    @OptionGroup(title: "Output") var output: OutputOptions

    func run() throws { try store.place().acknowledge(self) }
  }

  /// Makes one slot the only one.
  struct PromoteSlot: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "promote",
      abstract: "Remove all slots of a store that machines share but one and the recovery keys.",
      discussion: """
        It changes nothing while a machine has not acknowledged the slot, and names it, or while none has \
        acknowledged anything.
        """)

    @Argument(help: "The number of the slot, as slots list shows it.") var id: UInt32

    @OptionGroup(title: "Store") var store: StoreOptions
    @OptionGroup(title: "Key") var key: KeyOptions
    @OptionGroup var acknowledgement: AcknowledgementOptions
    @OptionGroup(title: "Output") var output: OutputOptions

    func run() throws { try store.place().promote(self) }
  }

  /// Forgets a machine that is gone.
  struct ForgetMachine: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "forget", abstract: "Forget a machine that is gone.")

    @Argument(help: "The machine's name, as doctor shows it.") var machine: String

    @OptionGroup(title: "Store") var store: StoreOptions
    @OptionGroup(title: "Key") var key: KeyOptions
    @OptionGroup(title: "Output") var output: OutputOptions

    func run() throws { try store.place().forget(self) }
  }
}
