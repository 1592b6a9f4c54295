public import struct Foundation.URL

/// The folder that a key's file is in.
public enum FileDirectory: Hashable, Sendable {
  /// What is to stay: `Documents` in the application's data folder.
  ///
  /// The data folder is `$STATE_DIRECTORY` under systemd, else `$XDG_DATA_HOME/<application id>`.
  case documents
  /// What may go at any time, and is made anew then: the application's cache folder.
  ///
  /// `$CACHE_DIRECTORY` under systemd, else `$XDG_CACHE_HOME/<application id>`. A `CACHEDIR.TAG` tells
  /// backup programs to leave it out.
  case caches
  /// A folder of the caller's choice: an absolute file URL.
  ///
  /// ``FileStorageConfiguration`` does not change it.
  case custom(URL)
}

extension FileDirectory: CustomStringConvertible {
  /// `documents`, `caches`, or the path.
  public var description: String {
    switch self {
    case .documents: "documents"
    case .caches: "caches"
    case .custom(let url): Self.path(of: url)
    }
  }

  /// The path, which is the same for a URL with and without a slash at its end.
  private static func path(of url: URL) -> String {
    let path = url.path(percentEncoded: false)
    return path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
  }
}
