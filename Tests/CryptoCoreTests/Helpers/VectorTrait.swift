import TestSupport
import Testing

extension Trait where Self == ConditionTrait {
  /// Runs the test where the folder is named, and where its absence must fail (`CI=true`).
  static func needs(_ folder: VectorFolder) -> Self {
    .enabled(if: folder.shouldRun, Comment(rawValue: folder.hint))
  }
}
