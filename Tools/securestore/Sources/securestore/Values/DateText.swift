internal import Foundation

/// Dates in the form of RFC 3339 with milliseconds: `2026-11-24T05:05:00.000Z`.
///
/// A date that a program makes of milliseconds since 1970 reads back as the same date. `--json` and an export have
/// every date exactly, as seconds since 2001.
enum DateText {
  private static let style = Date.ISO8601FormatStyle(
    includingFractionalSeconds: true, timeZone: .gmt)
  /// The seconds from 2001 of the dates in the years 1 to 9999.
  private static let calendar = -63_114_076_800.0..<252_423_993_600.0

  /// The text of a date; nil for one that has no year of four digits.
  static func text(_ date: Date) -> String? {
    guard calendar.contains(date.timeIntervalSinceReferenceDate) else { return nil }
    let milliseconds = (date.timeIntervalSince1970 * 1000).rounded()
    // Foundation cuts digits, and a Double may be just below the millisecond that it means.
    return style.format(Date(timeIntervalSince1970: (milliseconds + 0.1) / 1000))
  }

  /// The date of a text; nil if it is not a date with a time and an offset.
  static func date(_ text: String) -> Date? {
    let form =
      /(\d{4}-\d\d-\d\d)[Tt](\d\d:\d\d:\d\d)(\.\d+)?(?:[Zz]|([+-])([01]\d|2[0-3]):([0-5]\d))/
    guard let parts = text.wholeMatch(of: form.asciiOnlyDigits()) else { return nil }
    let wall = "\(parts.1)T\(parts.2)"
    // Foundation takes the 30th of February for the 2nd of March. Whatever it refuses is no date, so the
    // caller says that, and Foundation's reason adds nothing.
    guard let date = try? style.parse(wall + ".000Z"), style.format(date) == wall + ".000Z" else {
      return nil
    }
    let minutes = (Int(parts.5 ?? "") ?? 0) * 60 + (Int(parts.6 ?? "") ?? 0)
    let whole = date.timeIntervalSince1970 - Double(minutes * (parts.4 == "-" ? -60 : 60))
    guard let fraction = Double("0" + (parts.3 ?? "")) else { return nil }
    let milliseconds = fraction * 1000
    guard milliseconds == milliseconds.rounded() else {
      return Date(timeIntervalSince1970: whole + fraction)
    }
    return Date(timeIntervalSince1970: (whole * 1000 + milliseconds) / 1000)
  }
}
