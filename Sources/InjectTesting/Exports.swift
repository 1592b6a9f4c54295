// Who imports this module registers doubles.

@_exported public import InjectRegistry
