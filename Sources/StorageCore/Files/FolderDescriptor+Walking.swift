internal import Glibc

extension FolderDescriptor {
  /// Which links on the way to a folder are followed.
  package enum Links: Sendable {
    /// No link.
    case refused
    /// Links of this user or of root, in folders where nobody else can put a link.
    case owned
  }

  /// Looks at each folder on the way, and throws for a folder that must not be used.
  package typealias Check = (FileStatus, String) throws(StorageError) -> Void

  /// Opens the folder at a path, one component after the other.
  ///
  /// Each component is opened first and looked at afterwards, so what was checked is what is used.
  ///
  /// - Parameters:
  ///   - path: the path of the folder.
  ///   - links: which links are followed.
  ///   - isMaking: whether missing folders are made, durably and for their owner alone (0700).
  ///   - check: is called for each folder on the way, also for the last one.
  /// - Returns: nil when the folder does not exist.
  /// - Throws: `denied` for a link that is not followed, `unavailable` for a file in the place of a
  ///   folder, or what `check` throws.
  package static func open(
    _ path: String, links: Links = .owned, isMaking: Bool = false,
    check: Check = { (_, _) throws(StorageError) in }
  ) throws(StorageError) -> FolderDescriptor? {
    var walk = try FolderWalk(path, links)
    try check(try walk.folder.status(), walk.folder.path)
    while let name = walk.next() {
      let isThere = try walk.enter(name, isMaking) { (status, path) throws(StorageError) in
        try check(status, path)
      }
      guard isThere else { return nil }
    }
    return try walk.folder.named(path)
  }

  /// Opens a folder that must exist.
  ///
  /// - Throws: `unavailable` when it does not exist, or as ``open(_:links:isMaking:check:)``.
  package static func existing(
    _ path: String, links: Links = .owned, check: Check = { (_, _) throws(StorageError) in }
  ) throws(StorageError) -> FolderDescriptor {
    if let folder = try open(path, links: links, check: check) { return folder }
    throw StorageError(.unavailable, "the folder does not exist; create it first", path: path)
  }

  /// The path of a folder without links; components that do not exist yet are kept as they are.
  ///
  /// - Parameters:
  ///   - path: the absolute path of the folder.
  ///   - trust: who may write to a folder with a link in it, besides this user and root.
  /// - Returns: the absolute path.
  /// - Throws: `denied` for a link that is not followed, `unavailable` for a link that leads
  ///   nowhere: a folder that appears there later, such as a mounted disk, would not be found.
  package static func resolve(
    _ path: String, _ trust: FolderTrust
  ) throws(StorageError) -> String {
    var walk = try FolderWalk(path, .owned, trust)
    while let name = walk.next() {
      guard try walk.enter(name, false) else {
        try walk.requireNoLink()
        return try walk.path(withMissing: name)
      }
    }
    return walk.folder.path
  }
}

/// A walk along a path to a folder, and how far it has come.
private struct FolderWalk {
  /// As many links as the kernel follows on one way: path_resolution(7).
  private static let linkLimit = 40

  /// The folder that was reached.
  private(set) var folder: FolderDescriptor
  /// The names that are left, the next one last.
  private var rest: [String]
  /// How many of these names come from the target of a link.
  private var linkedCount = 0
  /// Whether the last name came from the target of a link.
  private var isLinked = false
  private var linkCount = 0
  /// Why no link is followed from here: others may write to a folder on the way.
  private var doubt: StorageError?
  private let links: FolderDescriptor.Links
  private let trust: FolderTrust

  init(
    _ path: String, _ links: FolderDescriptor.Links, _ trust: FolderTrust = .owner
  ) throws(StorageError) {
    folder = try Self.start(of: path)
    rest = Self.names(of: path)
    self.links = links
    self.trust = trust
    try look(at: folder.status(), folder.path)
  }

  /// Notes whether somebody else could put a link into a folder, or in its place.
  private mutating func look(at status: FileStatus, _ path: String) {
    do throws(StorageError) {
      try Folder.requirePrivate(status, path, trust)
    } catch {
      doubt = error
    }
  }

  private static func start(of path: String) throws(StorageError) -> FolderDescriptor {
    let start = path.hasPrefix("/") ? "/" : "."
    let flags = FolderDescriptor.place | O_DIRECTORY | O_CLOEXEC
    let opened = unsafe Glibc.open(start, flags)
    guard opened >= 0 else { throw StorageError(system: "open the folder", path: path) }
    return FolderDescriptor(opened, path: start, in: nil)
  }

  private static func names(of path: String) -> [String] {
    path.split(separator: "/").reversed().compactMap { $0 == "." ? nil : String($0) }
  }

  mutating func next() -> String? {
    isLinked = linkedCount > 0
    linkedCount = max(linkedCount - 1, 0)
    return rest.popLast()
  }

  /// Refuses a link that leads to a folder which does not exist.
  func requireNoLink() throws(StorageError) {
    guard isLinked else { return }
    throw StorageError(
      .unavailable,
      "a link leads to a folder that does not exist; correct the link, or mount the folder",
      path: folder.path)
  }

  /// The path of the folder that was reached, followed by a missing name and the names that are
  /// left.
  func path(withMissing name: String) throws(StorageError) -> String {
    let path = ([name] + rest.reversed()).reduce(folder.path) { path, name in
      path == "/" ? "/" + name : path + "/" + name
    }
    guard name != "..", !rest.contains("..") else {
      throw StorageError(
        .unavailable, "the folder does not exist; create it, or check the path", path: path)
    }
    return path
  }

  /// Enters a folder, or follows a link.
  ///
  /// - Returns: false when there is none.
  mutating func enter(
    _ name: String, _ isMaking: Bool,
    _ check: FolderDescriptor.Check = { (_, _) throws(StorageError) in }
  ) throws(StorageError) -> Bool {
    var found = try step(name)
    if found == nil, isMaking {
      try requireNoLink()
      if try folder.makeFolder(name) { try folder.synchronize() }
      found = try step(name)
    }
    guard let found else { return false }
    let status = try found.status()
    if status.isLink {
      try follow(found, status)
      return true
    }
    guard status.isFolder else {
      throw StorageError(
        .unavailable, "a folder is needed here, but this is a file; move the file away",
        path: found.path)
    }
    try check(status, found.path)
    look(at: status, found.path)
    folder = found
    return true
  }

  /// Opens an entry, which may be a link; nil when there is no such entry.
  private func step(_ name: String) throws(StorageError) -> FolderDescriptor? {
    let flags = FolderDescriptor.place | O_NOFOLLOW | O_CLOEXEC
    let opened = unsafe openat(folder.descriptor, name, flags, 0)
    let path = name == ".." ? FilePath.folder(of: folder.path) : folder.path(of: name)
    guard opened < 0 else {
      return FolderDescriptor(opened, path: path, in: name == ".." ? nil : folder)
    }
    if errno == ENOENT { return nil }
    throw StorageError(system: "open the folder", path: path)
  }

  /// Goes on where a link leads.
  private mutating func follow(
    _ link: FolderDescriptor, _ status: FileStatus
  ) throws(StorageError) {
    guard links == .owned else {
      throw StorageError(
        .denied,
        "a folder in the path was replaced by a link; check the link, then open the store again",
        path: link.path)
    }
    guard status.owner == geteuid() || status.owner == 0 else {
      throw StorageError(
        .denied, "another user owns the link to the folder; give the path that the link leads to",
        path: link.path)
    }
    // Others can move a link of ours from elsewhere into a folder that they may write to.
    if let doubt { throw doubt }
    linkCount += 1
    guard linkCount <= Self.linkLimit else {
      throw StorageError(
        .denied, "the path leads through too many links; give the path that the links lead to",
        path: link.path)
    }
    let target = try Self.target(of: link)
    if target.hasPrefix("/") { folder = try Self.start(of: target) }
    let names = Self.names(of: target)
    rest += names
    linkedCount += names.count
  }

  private static func target(of link: FolderDescriptor) throws(StorageError) -> String {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = unsafe readlinkat(link.descriptor, "", &buffer, buffer.count)
    guard count > 0 else { throw StorageError(system: "read the link", path: link.path) }
    let bytes = buffer[..<count].map { UInt8(bitPattern: $0) }
    guard let target = String(validating: bytes, as: UTF8.self) else {
      throw StorageError(
        .invalid, "a link leads to a path that is not UTF-8; use a path in UTF-8", path: link.path)
    }
    return target
  }
}
