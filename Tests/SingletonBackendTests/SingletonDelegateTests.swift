import SingletonBackend
import StorageTesting
import Testing

@Suite struct SingletonDelegateTests {
  @Test(arguments: DelegatePromise.all(of: SingletonStorageDelegate.self))
  func keepsThePromise(_ promise: DelegatePromise) throws {
    try promise.check { SingletonStorageDelegate() }
  }
}
