/// The name of a stored property: any text of 1 to 1,024 UTF-8 bytes.
///
/// Names are compared byte by byte: two that differ only in Unicode normalisation are different
/// names.
public typealias StoreKey = String
