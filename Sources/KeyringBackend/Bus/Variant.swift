internal import CLibsecret
internal import StorageCore

/// A value of the bus, GVariant: immutable, and read only as the type that it is.
@safe
final class Variant: @unchecked Sendable {
  // GVariant never changes once it is made, and counts its references atomically. Code that passes
  // the pointer to C keeps this object alive for the call.
  let handle: OpaquePointer

  /// Takes over a reference that the caller owns.
  init(adopting handle: OpaquePointer) { unsafe self.handle = handle }

  /// Takes a value that was just made, which nobody owns yet.
  init(floating handle: OpaquePointer) { unsafe self.handle = g_variant_ref_sink(handle) }

  deinit { unsafe g_variant_unref(handle) }

  // MARK: - Making

  /// The bus closes the connection of a sender whose array has more than 64 MiB.
  static let longestSecret = 32 << 20
  private static let longestText = 1 << 20

  /// A string, which must have no zero bytes on the bus.
  ///
  /// - Throws: `invalid` for one with a zero byte, or of more than 1 MiB.
  static func string(_ text: String) throws(StorageError) -> Variant {
    guard text.utf8.count <= longestText else {
      throw StorageError(.invalid, "the keyring takes names and labels of at most 1 MiB")
    }
    guard !text.utf8.contains(0) else {
      throw StorageError(.invalid, "the bus carries no text with a zero character in it")
    }
    return unsafe Variant(floating: g_variant_new_string(text))
  }

  static func path(_ path: ObjectPath) -> Variant {
    unsafe Variant(floating: g_variant_new_object_path(path.text))
  }

  static func number(_ value: UInt32) -> Variant {
    unsafe Variant(floating: g_variant_new_uint32(value))
  }

  static func boolean(_ value: Bool) -> Variant {
    unsafe Variant(floating: g_variant_new_boolean(value ? 1 : 0))
  }

  static func variant(_ value: Variant) -> Variant {
    withExtendedLifetime(value) { unsafe Variant(floating: g_variant_new_variant(value.handle)) }
  }

  static func tuple(_ values: [Variant]) -> Variant {
    let handles = unsafe values.map { unsafe Optional($0.handle) }
    let tuple = unsafe g_variant_new_tuple(handles, gsize(handles.count))
    withExtendedLifetime(values) {}
    return unsafe Variant(floating: tuple!)
  }

  private static func array(of type: String, _ values: [Variant]) -> Variant {
    let handles = unsafe values.map { unsafe Optional($0.handle) }
    let array = unsafe g_variant_new_array(sps_variant_type(type), handles, gsize(handles.count))
    withExtendedLifetime(values) {}
    return unsafe Variant(floating: array!)
  }

  /// Paths of objects, `ao`.
  static func paths(_ paths: [ObjectPath]) -> Variant {
    array(of: "o", paths.map { .path($0) })
  }

  /// Attributes, `a{ss}`.
  ///
  /// - Throws: `invalid` for text with a zero byte.
  static func attributes(_ attributes: [String: String]) throws(StorageError) -> Variant {
    var entries: [Variant] = []
    for (name, value) in attributes {
      let (key, text) = (try string(name), try string(value))
      entries.append(entry(key, text))
    }
    return array(of: "{ss}", entries)
  }

  private static func entry(_ key: Variant, _ value: Variant) -> Variant {
    withExtendedLifetime((key, value)) {
      unsafe Variant(floating: g_variant_new_dict_entry(key.handle, value.handle))
    }
  }

  /// Properties, `a{sv}`.
  static func properties(_ properties: [String: Variant]) throws(StorageError) -> Variant {
    var entries: [Variant] = []
    for (name, value) in properties {
      let (key, boxed) = (try string(name), variant(value))
      entries.append(entry(key, boxed))
    }
    return array(of: "{sv}", entries)
  }

  // MARK: - Reading

  /// Lends the pointer, and keeps the value alive meanwhile.
  private func read<Result>(_ body: (OpaquePointer) -> Result) -> Result {
    withExtendedLifetime(self) { unsafe body(handle) }
  }

  private func isOfType(_ type: String) -> Bool {
    unsafe read { unsafe g_variant_is_of_type($0, sps_variant_type(type)) != 0 }
  }

  /// The number of members of a tuple, an array or a dictionary.
  var count: Int { unsafe read { unsafe Int(g_variant_n_children($0)) } }

  /// The member at an existing index.
  subscript(index: Int) -> Variant {
    precondition(index >= 0 && index < count, "a member that is not there")
    return unsafe read { unsafe Variant(adopting: g_variant_get_child_value($0, gsize(index))) }
  }

  private var members: [Variant] { (0..<count).map { self[$0] } }

  /// The value inside a value of the type `v`.
  var boxed: Variant? {
    guard isOfType("v") else { return nil }
    return unsafe read { unsafe Variant(adopting: g_variant_get_variant($0)) }
  }

  var boolean: Bool? {
    guard isOfType("b") else { return nil }
    return unsafe read { unsafe g_variant_get_boolean($0) != 0 }
  }

  /// Seconds since 1970, as the service counts time.
  var number: UInt64? {
    guard isOfType("t") else { return nil }
    return unsafe read { unsafe UInt64(g_variant_get_uint64($0)) }
  }

  var text: String? {
    guard isOfType("s") || isOfType("o") else { return nil }
    return unsafe read { unsafe SystemText.exact(g_variant_get_string($0, nil)) }
  }

  var path: ObjectPath? { isOfType("o") ? text.map { ObjectPath(text: $0) } : nil }

  var paths: [ObjectPath]? { isOfType("ao") ? members.compactMap(\.path) : nil }

  /// Attributes; the service sends no name twice.
  var attributes: [String: String]? {
    guard isOfType("a{ss}") else { return nil }
    var attributes: [String: String] = [:]
    for entry in members { attributes[entry[0].text ?? ""] = entry[1].text }
    return attributes
  }

  /// Properties, `a{sv}`.
  var properties: [String: Variant]? {
    guard isOfType("a{sv}") else { return nil }
    var properties: [String: Variant] = [:]
    for entry in members { properties[entry[0].text ?? ""] = entry[1].boxed }
    return properties
  }

  /// Secrets by their items, `a{o(oayays)}`.
  var secrets: [(ObjectPath, Variant)]? {
    guard isOfType("a{o(oayays)}") else { return nil }
    return members.compactMap { entry in entry[0].path.map { ($0, entry[1]) } }
  }
}

/// The path of an object of the service.
struct ObjectPath: Hashable, Sendable {
  let text: String

  /// The path that the service answers for "no object".
  static let none = ObjectPath(text: "/")
  static let service = ObjectPath(text: "/org/freedesktop/secrets")

  /// Whether the object is an item of a collection.
  func isItem(of collection: ObjectPath) -> Bool {
    text.hasPrefix(collection.text + "/")
  }

  /// What tells an item apart for people and programs: the path without what all items share.
  var id: String {
    let shared = "/org/freedesktop/secrets/collection/"
    return text.hasPrefix(shared) ? String(text.dropFirst(shared.count)) : text
  }

  /// The collection of an item's path, or nil if the path is no item's.
  var collection: ObjectPath? {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 7, text.hasPrefix("/org/freedesktop/secrets/collection/") else {
      return nil
    }
    return ObjectPath(text: parts.dropLast().joined(separator: "/"))
  }
}
