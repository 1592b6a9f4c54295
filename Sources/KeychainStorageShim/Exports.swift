// A program that uses this module implements a provider, so importing it imports ProviderBackend
// too.

@_exported public import ProviderBackend
