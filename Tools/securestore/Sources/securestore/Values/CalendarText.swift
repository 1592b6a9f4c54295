internal import Foundation

/// Dates in the form of RFC 3339: `2026-11-24T05:05:00Z`, with a fraction of a second or an offset.
///
/// The calendar is Gregorian for all years from 0 to 9999, also before the reform of 1582. The text
/// of any other date is a number of seconds: `2001-01-01T00:00:00Z + 1e+300 s`.
///
/// A Double holds few fractions of a second exactly, so a text names one in one of two ways. Up to
/// three digits are the date that a program makes of milliseconds since 1970. More digits are the
/// nearest date.
enum CalendarText {
  private static let reference = "2001-01-01T00:00:00Z"
  /// The seconds from 1970 to 2001.
  private static let secondsFrom1970 = Int(Date.timeIntervalBetween1970AndReferenceDate)
  /// The seconds from 2001 of the first date with a text in the calendar, and of the first date
  /// after the last.
  private static let calendarSeconds = -63_145_526_400.0..<252_423_993_600.0

  // MARK: - Writing

  /// The text of a date, with as many digits as identify the date.
  static func text(_ date: Date) -> String {
    let seconds = date.timeIntervalSinceReferenceDate
    let isNegativeZero = seconds == 0 && seconds.sign == .minus
    guard calendarSeconds.contains(seconds), !isNegativeZero else {
      let text = FloatText.text(seconds)
      return text.hasPrefix("-")
        ? "\(reference) - \(text.dropFirst()) s" : "\(reference) + \(text) s"
    }
    if let milliseconds = milliseconds(date) {
      let second = milliseconds.flooring(1000)
      return calendar(second - secondsFrom1970) + "." + digits(milliseconds - second * 1000, 3)
        + "Z"
    }
    // The digits of the shortest number that is read as this one.
    var (whole, fraction) = decimal(seconds)
    if seconds < 0 {
      whole = -whole
      if !fraction.isEmpty {
        whole -= 1
        fraction = complement(fraction)
      }
    }
    let zeros = String(repeating: "0", count: max(4 - fraction.count, 0))
    return calendar(whole) + "." + String(decoding: fraction, as: UTF8.self) + zeros + "Z"
  }

  /// The milliseconds since 1970 of a date that is made of them.
  private static func milliseconds(_ date: Date) -> Int? {
    let milliseconds = (date.timeIntervalSince1970 * 1000).rounded()
    let same = Date(timeIntervalSince1970: milliseconds / 1000)
    return same == date ? Int(milliseconds) : nil
  }

  /// The whole part of a number without its sign, and the digits of its fraction.
  private static func decimal(_ seconds: Double) -> (whole: Int, fraction: [UInt8]) {
    let parts = "\(seconds.magnitude)".split(separator: "e")
    let number = parts[0].split(separator: ".")
    var whole = Array(number[0].utf8)
    var fraction = number.count > 1 ? Array(number[1].utf8) : []
    let exponent = parts.count > 1 ? Int(parts[1]) ?? 0 : 0
    for _ in 0..<max(exponent, 0) { whole.append(fraction.isEmpty ? 0x30 : fraction.removeFirst()) }
    for _ in 0..<max(-exponent, 0) { fraction.insert(whole.popLast() ?? 0x30, at: 0) }
    while fraction.last == 0x30 { fraction.removeLast() }
    return (Int(String(decoding: whole, as: UTF8.self)) ?? 0, fraction)
  }

  /// The digits of 1 minus a fraction that does not end in a 0.
  private static func complement(_ fraction: [UInt8]) -> [UInt8] {
    let last = fraction.count - 1
    return fraction.enumerated().map { 0x30 + (($0 == last ? 0x3A : 0x39) - $1) }
  }

  private static func calendar(_ seconds: Int) -> String {
    let since = seconds + days(2001, 1, 1) * 86_400
    let (day, second) = (since / 86_400, since % 86_400)
    // The inverse of `days`: the year begins in March.
    var year = day * 400 / 146_097 - firstYear
    while days(year + 1, 3, 1) <= day { year += 1 }
    while days(year, 3, 1) > day { year -= 1 }
    let rest = day - days(year, 3, 1)
    let month = (rest * 5 + 2) / 153
    let dayOfMonth = rest - (month * 153 + 2) / 5 + 1
    return digits(month < 10 ? year : year + 1, 4) + "-"
      + digits(month < 10 ? month + 3 : month - 9)
      + "-" + digits(dayOfMonth) + "T" + digits(second / 3600) + ":" + digits(second / 60 % 60)
      + ":"
      + digits(second % 60)
  }

  private static func digits(_ number: Int, _ count: Int = 2) -> String {
    let text = "\(number)"
    return String(repeating: "0", count: max(count - text.count, 0)) + text
  }

  // MARK: - Reading

  /// The date of a text; nil if it is not a date with a time and an offset.
  static func date(_ text: String) -> Date? {
    if text.hasPrefix(reference + " ") {
      let rest = text.dropFirst(reference.count + 1)
      guard let sign = rest.first, "+-".contains(sign), rest.dropFirst().first == " ",
        rest.hasSuffix(" s"), rest.count > 4
      else { return nil }
      let text = String(rest.dropFirst(2).dropLast(2))
      guard !text.hasPrefix("-"), !text.hasPrefix("+"),
        let magnitude: Double = FloatText.value(text)
      else { return nil }
      return Date(timeIntervalSinceReferenceDate: sign == "-" ? -magnitude : magnitude)
    }
    var rest = Array(text.utf8)[...]
    guard let year = number(4, &rest), take("-", &rest), let month = number(2, &rest),
      take("-", &rest), let day = number(2, &rest), take("T", &rest) || take("t", &rest),
      let hour = number(2, &rest), take(":", &rest), let minute = number(2, &rest),
      take(":", &rest), let second = number(2, &rest), let fraction = fraction(&rest),
      let offset = offset(&rest), rest.isEmpty,
      (1...12).contains(month), (1...length(month, year)).contains(day),
      hour < 24, minute < 60, second < 60
    else { return nil }
    let days = days(year, month, day) - days(2001, 1, 1)
    let seconds = ((days * 24 + hour) * 60 + minute - offset) * 60 + second
    guard fraction.count > 3 else {
      return number(seconds + secondsFrom1970, fraction).map { Date(timeIntervalSince1970: $0) }
    }
    return number(seconds, fraction).map { Date(timeIntervalSinceReferenceDate: $0) }
  }

  /// The nearest number to whole seconds and the digits of a fraction, rounded once.
  private static func number(_ seconds: Int, _ fraction: [UInt8]) -> Double? {
    var fraction = fraction
    while fraction.last == 0x30 { fraction.removeLast() }
    if seconds >= 0 || fraction.isEmpty {
      return Double("\(seconds)." + String(decoding: fraction, as: UTF8.self) + "0")
    }
    return Double("-\(-seconds - 1)." + String(decoding: complement(fraction), as: UTF8.self))
  }

  private static func take(_ scalar: Unicode.Scalar, _ rest: inout ArraySlice<UInt8>) -> Bool {
    guard rest.first == UInt8(ascii: scalar) else { return false }
    rest.removeFirst()
    return true
  }

  private static func number(_ count: Int, _ rest: inout ArraySlice<UInt8>) -> Int? {
    let digits = rest.prefix(count)
    guard digits.count == count, digits.allSatisfy({ (0x30...0x39).contains($0) }) else {
      return nil
    }
    rest = rest.dropFirst(count)
    return digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
  }

  /// The digits of the fraction after a point; none without a point.
  private static func fraction(_ rest: inout ArraySlice<UInt8>) -> [UInt8]? {
    guard take(".", &rest) else { return [] }
    let digits = Array(rest.prefix { (0x30...0x39).contains($0) })
    rest = rest.dropFirst(digits.count)
    return digits.isEmpty ? nil : digits
  }

  /// The offset in minutes.
  private static func offset(_ rest: inout ArraySlice<UInt8>) -> Int? {
    if take("Z", &rest) || take("z", &rest) { return 0 }
    let sign = take("+", &rest) ? 1 : take("-", &rest) ? -1 : 0
    guard sign != 0, let hours = number(2, &rest), take(":", &rest), let minutes = number(2, &rest),
      hours < 24, minutes < 60
    else { return nil }
    return sign * (hours * 60 + minutes)
  }

  private static func length(_ month: Int, _ year: Int) -> Int {
    let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    return month == 2 ? (isLeap ? 29 : 28) : [4, 6, 9, 11].contains(month) ? 30 : 31
  }

  /// The years before the year 0 that are counted, so that no number below is negative.
  private static let firstYear = 400

  /// Days since a first of March in the Gregorian calendar: the year ends with the leap day.
  private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
    let shifted = (month > 2 ? year : year - 1) + firstYear
    let months = (month + 9) % 12
    let leaps = shifted / 4 - shifted / 100 + shifted / 400
    return shifted * 365 + leaps + (months * 153 + 2) / 5 + day
  }
}

extension Int {
  /// The quotient, rounded down also for a negative number.
  fileprivate func flooring(_ divisor: Int) -> Int {
    self >= 0 ? self / divisor : -((-self + divisor - 1) / divisor)
  }
}
