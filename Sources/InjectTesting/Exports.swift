// A test that uses this module registers doubles, so importing it imports InjectRegistry too.

@_exported public import InjectRegistry
