internal import CLibsecret

extension DBusValue {
  /// The value as a GVariant: a floating reference, which the caller takes over.
  func makeVariant() -> OpaquePointer {
    switch self {
    case .boolean(let value): unsafe g_variant_new_boolean(value ? 1 : 0)
    case .uint32(let value): unsafe g_variant_new_uint32(value)
    case .uint64(let value): unsafe g_variant_new_uint64(guint64(value))
    case .string(let text): unsafe g_variant_new_string(text)
    case .objectPath(let path):
      // NULL for a path that is malformed.
      if unsafe g_variant_is_object_path(path) != 0 {
        unsafe g_variant_new_object_path(path)
      } else {
        preconditionFailure("\(path) is no path of an object")
      }
    case .bytes(let bytes):
      unsafe Self.withType("y") { type in
        unsafe bytes.withUnsafeBytes {
          unsafe g_variant_new_fixed_array(type, $0.baseAddress, UInt(bytes.count), 1)
        }
      }
    case .array(let elements, of: let signature):
      unsafe Self.withType(signature) { type in
        let children = unsafe elements.map { unsafe Optional($0.makeVariant()) }
        return unsafe g_variant_new_array(type, children, UInt(children.count))
      }
    case .entry(let key, let value):
      unsafe g_variant_new_dict_entry(key.makeVariant(), value.makeVariant())
    case .tuple(let elements): unsafe Self.makeTuple(elements)
    case .variant(let value): unsafe g_variant_new_variant(value.makeVariant())
    }
  }

  /// A message's body, as a floating reference.
  static func makeTuple(_ elements: [DBusValue]) -> OpaquePointer {
    let children = unsafe elements.map { unsafe Optional($0.makeVariant()) }
    return unsafe g_variant_new_tuple(children, UInt(children.count))
  }

  /// Reads a GVariant; nil for a type that the Secret Service does not use.
  init?(_ variant: OpaquePointer) {
    switch unsafe SystemText.shown(g_variant_get_type_string(variant)) {
    case "b": self = unsafe .boolean(g_variant_get_boolean(variant) != 0)
    case "u": self = unsafe .uint32(g_variant_get_uint32(variant))
    case "t": self = unsafe .uint64(UInt64(g_variant_get_uint64(variant)))
    case "s": self = unsafe .string(SystemText.shown(g_variant_get_string(variant, nil)))
    case "o": self = unsafe .objectPath(SystemText.shown(g_variant_get_string(variant, nil)))
    case "ay":
      var count: gsize = 0
      let start = unsafe g_variant_get_fixed_array(variant, &count, 1)
      self = unsafe .bytes(Array(UnsafeRawBufferPointer(start: start, count: Int(count))))
    case let signature:
      var children: [DBusValue] = []
      guard let first = signature.first, "a({v".contains(first) else { return nil }
      for index in unsafe 0..<g_variant_n_children(variant) {
        guard let child = unsafe g_variant_get_child_value(variant, index) else { return nil }
        defer { unsafe g_variant_unref(child) }
        guard let value = unsafe DBusValue(child) else { return nil }
        children.append(value)
      }
      switch first {
      case "a": self = .array(children, of: String(signature.dropFirst()))
      case "(": self = .tuple(children)
      case "{": self = .entry(children[0], children[1])
      default: self = .variant(children[0])
      }
    }
  }

  private static func withType(
    _ signature: String, _ body: (OpaquePointer) -> OpaquePointer
  ) -> OpaquePointer {
    guard unsafe g_variant_type_string_is_valid(signature) != 0,
      let type = unsafe g_variant_type_new(signature)
    else { preconditionFailure("\(signature) is no signature") }
    defer { unsafe g_variant_type_free(type) }
    return unsafe body(type)
  }
}
