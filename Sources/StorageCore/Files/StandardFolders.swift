internal import CryptoCore
internal import Glibc

/// The folders of the XDG base directory specification and of systemd.exec(5).
package enum StandardFolders {
  /// `$XDG_CONFIG_HOME`, or `.config` in the home folder.
  package static func configuration() throws(StorageError) -> String {
    try base("XDG_CONFIG_HOME", orHome: ".config")
  }

  /// The application's data folder.
  ///
  /// `$STATE_DIRECTORY` under systemd, else `$XDG_DATA_HOME/<application>`, else
  /// `.local/share/<application>` in the home folder.
  package static func data(application: String) throws(StorageError) -> String {
    try validate(application)
    // systemd.exec(5): several folders are separated by colons; the first is the main one.
    if let state = try environment("STATE_DIRECTORY")?.split(separator: ":").first,
      state.hasPrefix("/")
    {
      return String(state)
    }
    return try base("XDG_DATA_HOME", orHome: ".local/share") + "/" + application
  }

  /// The application's cache folder.
  ///
  /// `$CACHE_DIRECTORY` under systemd, else `$XDG_CACHE_HOME/<application>`, else
  /// `.cache/<application>` in the home folder.
  package static func caches(application: String) throws(StorageError) -> String {
    try validate(application)
    if let cache = try environment("CACHE_DIRECTORY")?.split(separator: ":").first,
      cache.hasPrefix("/")
    {
      return String(cache)
    }
    return try base("XDG_CACHE_HOME", orHome: ".cache") + "/" + application
  }

  /// The folder for the data of all applications: `$XDG_DATA_HOME`, or `.local/share` in the home
  /// folder.
  package static func sharedData() throws(StorageError) -> String {
    try base("XDG_DATA_HOME", orHome: ".local/share")
  }

  /// Throws `invalid` if the application id can't name a file.
  package static func validate(_ applicationID: String) throws(StorageError) {
    let isName =
      !applicationID.isEmpty && applicationID.utf8.count <= 128 && applicationID != "."
      && applicationID != ".." && !applicationID.utf8.contains { $0 < 32 || $0 == 47 || $0 == 127 }
    guard isName else {
      throw StorageError(
        .invalid,
        "the application id is not allowed: use 1 to 128 bytes without slashes and control characters, "
          + "and not \".\" or \"..\"")
    }
  }

  /// The value of an environment variable; nil if it is not set or empty.
  ///
  /// - Throws: `StorageError`: `invalid` if it is not UTF-8, so that it can't name a folder here.
  package static func environment(_ name: String) throws(StorageError) -> String? {
    guard let value = unsafe getenv(name) else { return nil }
    guard let text = unsafe SystemText.exact(value) else {
      throw StorageError(
        .invalid,
        "the environment variable \(name) has bytes that are not UTF-8; set it to a path or text in UTF-8"
      )
    }
    return text.isEmpty ? nil : text
  }

  /// Whether an environment variable is set and not empty.
  package static func isSet(_ name: String) -> Bool {
    guard let value = unsafe getenv(name) else { return false }
    return unsafe value.pointee != 0
  }

  private static func base(
    _ variable: String, orHome folder: String
  ) throws(StorageError) -> String {
    // The XDG specification: a relative path must be ignored.
    if let path = try environment(variable), path.hasPrefix("/") { return path }
    guard let home = try environment("HOME"), home.hasPrefix("/") else {
      throw StorageError(
        .unavailable,
        "neither \(variable) nor HOME is set to an absolute path, so there is no folder to store in; "
          + "set one of them")
    }
    return home == "/" ? "/" + folder : home + "/" + folder
  }
}
