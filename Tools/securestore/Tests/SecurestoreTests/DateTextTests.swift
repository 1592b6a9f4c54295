import Foundation
import Testing

@testable import securestore

/// Dates as text: to the millisecond, with a time and an offset.
struct DateTextTests {
  @Test(arguments: [
    (0, "2001-01-01T00:00:00.000Z"), (-0.5, "2000-12-31T23:59:59.500Z"),
    (817_189_500.123, "2026-11-24T05:05:00.123Z"), (0.1234567, "2001-01-01T00:00:00.123Z"),
    (252_423_993_599.999, "9999-12-31T23:59:59.999Z"), (252_423_993_600, nil), (1e300, nil),
    (-.infinity, nil), (.nan, nil), (-63_114_076_801, nil),
  ])
  func theTextHasMillisecondsAndAYearOfFourDigits(_ seconds: Double, _ text: String?) {
    #expect(DateText.text(Date(timeIntervalSinceReferenceDate: seconds)) == text)
  }

  @Test func everyMillisecondReadsBackAsTheSameDate() {
    for base in [0, 1_795_496_700, -1, -12_219_292_800, -62_135_596_800, 253_402_300_799] {
      for millisecond in stride(from: 0, to: 1000, by: 7) {
        let date = Date(timeIntervalSince1970: Double(base * 1000 + millisecond) / 1000)
        #expect(DateText.text(date).flatMap { DateText.date($0) } == date)
      }
    }
  }

  @Test(arguments: [
    "2026-11-24T05:05:00Z", "2026-11-24t06:05:00+01:00", "2026-11-23T23:35:00.0-05:30",
    "2026-11-24T05:05:00.0000Z",
  ])
  func anOffsetAndAFractionAreRead(_ text: String) {
    #expect(DateText.date(text)?.timeIntervalSince1970 == 1_795_496_700)
  }

  @Test(arguments: [
    "2026-02-29T00:00:00Z", "2026-11-24T05:05:00", "2026-11-24T05:05:00.Z", "1900-02-29T00:00:00Z",
    "2026-11-24T24:00:00Z", "2026-11-24T05:60:00Z", "2026-11-24T05:05:60Z", "1795496700", "inf",
    "2026-11-24T05:05:00+24:00", "2026-11-24", "２026-11-24T05:05:00Z",
  ])
  func whatIsNoDateIsRefused(_ text: String) {
    #expect(DateText.date(text) == nil)
  }
}
