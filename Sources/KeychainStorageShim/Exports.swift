// Who imports this module implements a provider.

@_exported public import ProviderBackend
