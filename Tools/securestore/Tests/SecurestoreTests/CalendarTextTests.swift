import Foundation
import Testing

@testable import securestore

/// Dates as text: exact, and in the Gregorian calendar for all years.
struct CalendarTextTests {
  private static func date(_ seconds: Double) -> Date {
    Date(timeIntervalSinceReferenceDate: seconds)
  }

  private static func bits(_ date: Date?) -> UInt64? {
    date?.timeIntervalSinceReferenceDate.bitPattern
  }

  @Test(arguments: [
    (0, "2001-01-01T00:00:00.000Z"), (0.5, "2001-01-01T00:00:00.500Z"),
    (-0.5, "2000-12-31T23:59:59.500Z"), (-0.001, "2000-12-31T23:59:59.9990Z"),
    (0.1234567, "2001-01-01T00:00:00.1234567Z"), (1.5e-05, "2001-01-01T00:00:00.000015Z"),
    (-63_114_076_800, "0000-12-30T00:00:00.000Z"), (-63_113_904_000, "0001-01-01T00:00:00.000Z"),
    (-63_145_526_400, "0000-01-01T00:00:00.000Z"), (-63_140_428_800, "0000-02-29T00:00:00.000Z"),
    (63_113_904_000, "4001-01-01T00:00:00.000Z"),
    (-63_113_903_999.999, "0001-01-01T00:00:00.001Z"),
    (252_423_993_599.999, "9999-12-31T23:59:59.999Z"),
    (-13_197_600_000, "1582-10-15T00:00:00.000Z"), (-13_197_686_400, "1582-10-14T00:00:00.000Z"),
    (-3_160_857_600, "1900-11-03T00:00:00.000Z"), (-3_181_939_200, "1900-03-04T00:00:00.000Z"),
    (-26_524_800, "2000-02-29T00:00:00.000Z"), (97_804_800, "2004-02-07T00:00:00.000Z"),
    (252_423_993_600, "2001-01-01T00:00:00Z + 252423993600.0 s"),
    (-63_145_526_401, "2001-01-01T00:00:00Z - 63145526401.0 s"),
    (1e300, "2001-01-01T00:00:00Z + 1e+300 s"), (-.infinity, "2001-01-01T00:00:00Z - inf s"),
    (-0.0, "2001-01-01T00:00:00Z - 0.0 s"), (.nan, "2001-01-01T00:00:00Z + nan s"),
  ])
  func theTextOfADateIsReadAsTheDate(_ seconds: Double, _ text: String) {
    #expect(CalendarText.text(Self.date(seconds)) == text)
    #expect(Self.bits(CalendarText.date(text)) == seconds.bitPattern)
  }

  @Test func everyMillisecondOfASecondIsExactAndSaysWhichItIs() {
    for base in [0, 1_795_496_700, -1, -12_219_292_800, -62_135_596_800, 253_402_300_799] {
      for millisecond in 0..<1000 {
        let date = Date(timeIntervalSince1970: Double(base * 1000 + millisecond) / 1000)
        let text = CalendarText.text(date)
        #expect(text.hasSuffix(String(format: ".%03dZ", millisecond)))
        #expect(Self.bits(CalendarText.date(text)) == Self.bits(date), "\(text)")
      }
    }
    // The same time as a program makes it of seconds since 2001 may be another Double.
    for millisecond in 0..<1000 {
      let date = Self.date(817_189_500 + Double(millisecond) / 1000)
      let text = CalendarText.text(date)
      #expect(text.hasPrefix(String(format: "2026-11-24T05:05:00.%03d", millisecond)))
      #expect(Self.bits(CalendarText.date(text)) == Self.bits(date), "\(text)")
    }
  }

  @Test func theSmallestFractionsAreExact() {
    for seconds: Double in [
      .leastNonzeroMagnitude, -.leastNonzeroMagnitude, 1e-20, -1e-20, 0.1.nextUp, -0.1.nextUp,
      0.3.ulp,
    ] {
      let text = CalendarText.text(Self.date(seconds))
      #expect(Self.bits(CalendarText.date(text)) == seconds.bitPattern, "\(text.prefix(40))")
    }
  }

  @Test func theCalendarIsThatOfFoundationSinceTheReform() throws {
    let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true, timeZone: .gmt)
    for day in stride(from: -152_000.0, to: 2_900_000, by: 97) {
      let date = Self.date(day * 86_400)
      #expect(CalendarText.text(date) == style.format(date))
    }
  }

  @Test(arguments: [
    "0001-02-29T00:00:00Z", "2026-02-29T00:00:00Z", "2026-11-24T05:05:00", "2026-11-24T05:05:00.Z",
    "1900-02-29T00:00:00Z", "2026-11-24T24:00:00Z", "2001-01-01T00:00:00Z + 1e400 s",
    "2001-01-01T00:00:00Z + -1 s", "2001-01-01T00:00:00Z 1 s", "2001-01-01T00:00:00Z + s",
    "2001-01-01T00:00:00Z + 1", "2026-01-01T00:00:00Z + 1 s", "1795496700", "inf",
  ])
  func whatIsNoDateIsRefused(_ text: String) {
    #expect(CalendarText.date(text) == nil)
  }
}
