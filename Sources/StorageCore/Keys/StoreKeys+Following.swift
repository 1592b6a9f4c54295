extension StoreKeys {
  /// The keys for reading, after a look at the header: another process may have replaced the keys.
  func following() throws(StorageError) -> OpenKeys? {
    guard let current, hasHeader else { return try refresh() }
    let (header, version) = try place.header()
    guard header != nil, version == current.headerVersion else { return try refresh() }
    return current
  }
}
