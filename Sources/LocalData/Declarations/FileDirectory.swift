public import struct FoundationEssentials.URL

/// The folder that a key's file is in.
public enum FileDirectory: Hashable, Sendable {
  /// For data that must stay: `Documents` in the application's data folder.
  ///
  /// The data folder is `$STATE_DIRECTORY` under systemd, else `$XDG_DATA_HOME/<application id>`.
  case documents
  /// For data that may be deleted at any time and can be created again: the application's cache
  /// folder.
  ///
  /// `$CACHE_DIRECTORY` under systemd, else `$XDG_CACHE_HOME/<application id>`. A `CACHEDIR.TAG`
  /// tells backup programs to skip the folder.
  case caches
  /// A folder of the caller's choice: an absolute file URL.
  ///
  /// ``FileStorageConfiguration`` does not apply to it. Sealed values open in this folder only:
  /// after you moved the folder, call ``StorageRouter/adoptFolder(at:)`` once.
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

  /// The path, which is the same for a URL with or without a final slash.
  private static func path(of url: URL) -> String {
    let path = url.path(percentEncoded: false)
    return path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
  }
}
