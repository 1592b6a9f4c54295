internal import StorageCore

/// Live properties of several storages.
extension StorePromise {
  static let live: [StorePromise] = [
    StorePromise("the storages of a place and key share a live value") { subject in
      let place = try subject.make()
      let (one, other) = (try place.storage(), try place.storage())
      // A place that asks another program knows where it is when it is open.
      if try place.raw().asksOthers {
        try one.open()
        try other.open()
      }
      let first = Live<Int?, DelegatedStorage>(one, "key")
      let second = Live<Int?, DelegatedStorage>(other, "key")
      let unwrapped = Live(wrappedValue: 7, one, "key")
      try subject.require(first.wrappedValue == nil && unwrapped.wrappedValue == 7, "no default")
      try subject.require(first.live === second.live, "each has its own")
      first.wrappedValue = 1
      try subject.require(second.wrappedValue == 1, "the second is \(second.state)")
      second.wrappedValue = 2
      try subject.require(first.wrappedValue == 2, "the first is \(first.state)")
      try other.save(3, forKey: "key")
      try subject.require(first.wrappedValue == 3, "after a save the first is \(first.state)")
      try subject.require(unwrapped.wrappedValue == 3, "with a default it is \(unwrapped.state)")
      // What its own keys don't open, nobody is shown.
      for (source, tag, code) in [
        (KeySource.first, "tag", StorageError.Code.damaged), (.second, nil, .wrongKey),
      ] {
        let stranger = Live<Int?, DelegatedStorage>(try place.storage(source, tag: tag), "key")
        guard case .failed(let error) = stranger.state, error.code == code else {
          throw BrokenPromise(description: "\(subject.promise): a stranger has \(stranger.state)")
        }
        try subject.require(stranger.live !== first.live, "a stranger shares it")
      }
    }
  ]
}
