import Foundation
import StorageCore
import TestSupport
import Testing
import VaultBackend

/// A stored value keeps its type, and every type of a property can be written.
struct TypeTests {
  /// The vault of the tool, as an application has it.
  private static func storage(_ tool: Tool) -> VaultStorage {
    VaultStorage(
      at: URL(fileURLWithPath: tool.vault), keySource: .file(URL(fileURLWithPath: tool.keyFile)))
  }

  /// The properties of an application.
  private struct Service {
    struct User: Codable, Equatable { var name: String }
    enum Color: String, Codable { case red, green }
    enum Level: Int { case low, high }

    @Store<Int, VaultStorage> var int: Int?
    @Store<Double, VaultStorage> var double: Double?
    @Store<Bool, VaultStorage> var bool: Bool?
    @Store<String, VaultStorage> var string: String?
    @Store<URL, VaultStorage> var url: URL?
    @Store<Date, VaultStorage> var date: Date?
    @Store<UUID, VaultStorage> var uuid: UUID?
    @Store<Data, VaultStorage> var data: Data?
    @Store<Decimal, VaultStorage> var decimal: Decimal?
    @Store<[String], VaultStorage> var list: [String]?
    @Store<[String: String], VaultStorage> var dictionary: [String: String]?
    @Store<[Int], VaultStorage> var ints: [Int]?
    @Store<Set<String>, VaultStorage> var tags: Set<String>?
    @Store<[String: [Double]], VaultStorage> var nested: [String: [Double]]?
    @Store<UInt8, VaultStorage> var small: UInt8?
    @Store<Color, VaultStorage> var color: Color?
    @Store<Level, VaultStorage> var level: Level?
    @CodableStore<User, VaultStorage> var user: User?

    init(_ storage: VaultStorage) {
      _int = Store(storage, "int")
      _double = Store(storage, "double")
      _bool = Store(storage, "bool")
      _string = Store(storage, "string")
      _url = Store(storage, "url")
      _date = Store(storage, "date")
      _uuid = Store(storage, "uuid")
      _data = Store(storage, "data")
      _decimal = Store(storage, "decimal")
      _list = Store(storage, "list")
      _dictionary = Store(storage, "dictionary")
      _ints = Store(storage, "ints")
      _tags = Store(storage, "tags")
      _nested = Store(storage, "nested")
      _small = Store(storage, "small")
      _color = Store(storage, "color")
      _level = Store(storage, "level")
      _user = CodableStore(storage, "user")
    }
  }

  private static let id = "6BA7B810-9DAD-11D1-80B4-00C04FD430C8"
  /// The names, what `--type` says of each, and the input.
  private static let values = [
    ("int", "int", "42\n"), ("double", "double", "2.5"), ("bool", "bool", "true"),
    ("string", "string", "text\n"), ("url", "url", "https://example.com/a?b=c"),
    ("date", "date", "2026-11-24T06:05:00.25+01:00\n"), ("uuid", "uuid", id),
    ("data", "data", "\u{0}\u{1}\n"), ("decimal", "decimal", "-0.10"),
    ("list", "list", #"["a","b"]"#), ("dictionary", "dictionary", #"{"a":"b"}"#),
    ("ints", "[Int]", "[1,2,3]"), ("tags", "Set<String>", #"["x","y"]"#),
    ("nested", "[String: [Double]]", #"{"a":[1,2.5]}"#), ("small", "UInt8", "255"),
    ("color", "json", "\"red\""), ("level", "int", "1"), ("user", "json", #"{"name":"Ada"}"#),
  ]

  private static func expect(_ service: Service) throws {
    #expect(try service.$int.load() == 42)
    #expect(try service.$double.load() == 2.5)
    #expect(try service.$bool.load() == true)
    #expect(try service.$string.load() == "text")
    #expect(try service.$url.load() == URL(string: "https://example.com/a?b=c"))
    let date = try #require(try service.$date.load())
    #expect(date.timeIntervalSince1970 == 1_795_496_700.25)
    #expect(try service.$uuid.load() == UUID(uuidString: id))
    #expect(try service.$data.load() == Data([0, 1, 10]))
    #expect(try service.$decimal.load() == Decimal(string: "-0.1"))
    #expect(try service.$list.load() == ["a", "b"])
    #expect(try service.$dictionary.load() == ["a": "b"])
    #expect(try service.$ints.load() == [1, 2, 3])
    #expect(try service.$tags.load() == ["x", "y"])
    #expect(try service.$nested.load() == ["a": [1, 2.5]])
    #expect(try service.$small.load() == 255)
    #expect(try service.$color.load() == .red)
    #expect(try service.$level.load() == .high)
    #expect(try service.$user.load() == Service.User(name: "Ada"))
  }

  @Test func aPropertyOfEachTypeReadsWhatSetStored() throws {
    let tool = try Tool()
    for (name, type, input) in Self.values {
      let set = try tool.run("set", name, "--type", type, input: input)
      #expect(set.code == 0, "\(name): \(set.errors)")
    }
    try Self.expect(Service(Self.storage(tool)))
    #expect(try tool.run("get", "date").text == "2026-11-24T05:05:00.250Z")
  }

  @Test func whatAnApplicationStoredKeepsItsTypeWhenSetReplacesIt() throws {
    let tool = try Tool()
    let service = Service(Self.storage(tool))
    service.int = 1
    service.double = 1
    service.bool = false
    service.string = ""
    service.url = URL(string: "file:///x")
    service.date = .now
    service.uuid = UUID()
    service.data = Data()
    service.decimal = 1
    service.list = []
    service.dictionary = [:]
    service.ints = []
    service.tags = []
    service.nested = [:]
    service.small = 1
    service.color = .green
    service.level = .low
    service.user = Service.User(name: "Bob")
    let before = try tool.run("list", "--long", "--json").json()["values"] as? [[String: Any]]
    for (name, _, input) in Self.values {
      // A Codable text may be given as it is.
      let set = try tool.run("set", name, input: name == "color" ? "red\n" : input)
      #expect(set.code == 0, "\(name): \(set.errors)")
    }
    try Self.expect(service)
    let after = try tool.run("list", "--long", "--json").json()["values"] as? [[String: Any]]
    #expect(before?.map { $0["type"] as? String } == after?.map { $0["type"] as? String })
  }

  private static let inexact = [
    ("Int", "7200 s"), ("Int", "007"), ("Int", "1.0"), ("Int", "99999999999999999999"),
    ("Double", "1,5"), ("Double", "1e400"), ("Bool", "maybe"), ("URL", "not a url"),
    ("Date", "2026-11-24"), ("Date", "2026-02-30T00:00:00Z"), ("UUID", "1234"), ("UInt8", "256"),
    ("[String]", "a,b"), ("[Int]", "[1,\"2\"]"), ("Set<String>", #"["a","a"]"#),
    ("[String: String]", #"{"a":1}"#), ("Decimal", "12abc"),
  ]

  @Test(arguments: Depth.cases(inexact, day: 6))
  func whatIsNotExactlyOfTheStoredTypeIsRefused(_ type: String, _ input: String) throws {
    let tool = try Tool()
    let old = [
      "Int": "1", "Double": "1.5", "Bool": "true", "URL": "file:///x", "UUID": Self.id,
      "Date": "2026-11-24T05:05:00Z", "UInt8": "1", "[String]": "[]", "[Int]": "[]",
      "Set<String>": "[]", "[String: String]": "{}", "Decimal": "1",
    ]
    let made = try tool.run("set", "V", "--type", type, input: old[type] ?? "")
    #expect(made.code == 0, "\(made.errors)")
    let before = try tool.run("get", "V").text
    let refused = try tool.run("set", "V", input: input)
    #expect(refused.code == 13)
    #expect(refused.errors.contains("the value is stored as \(type), and the input is String"))
    #expect(!refused.errors.contains(input))
    #expect(try tool.run("get", "V").text == before)
    try tool.write("V='\(input)'\n", to: "a.env")
    let imported = try tool.run("import", "a.env", "--overwrite")
    #expect(imported.code == 13)
    #expect(imported.errors.contains("V (stored as \(type), but the file has String"))
    #expect(!imported.errors.contains(input))
    #expect(try tool.run("get", "V").text == before)
    #expect(try tool.run("set", "V", "--type", "string", input: input).code == 0)
    #expect(try tool.run("get", "V", "--json").json()["type"] as? String == "String")
  }

  @Test func anImportKeepsStoredTypes() throws {
    let tool = try Tool()
    let service = Service(Self.storage(tool))
    service.int = 1
    service.bool = false
    service.url = URL(string: "file:///x")
    service.data = Data([1])
    service.list = ["old"]
    service.string = "old"
    service.color = .green
    service.user = Service.User(name: "Bob")
    try tool.write(
      """
      int=7200
      bool=yes
      url=https://example.com
      data=AAE=
      list='["a"]'
      string=12
      color=red
      user='{"name":"Ada"}'
      NEW=1
      """, to: "app.env")
    let imported = try tool.run("import", "app.env", "--overwrite")
    #expect(imported.code == 0, "\(imported.errors)")
    #expect(try service.$int.load() == 7200)
    #expect(try service.$bool.load() == true)
    #expect(try service.$url.load() == URL(string: "https://example.com"))
    #expect(try service.$data.load() == Data([0, 1]))
    #expect(try service.$list.load() == ["a"])
    #expect(try service.$string.load() == "12")
    #expect(try service.$color.load() == .red)
    #expect(try service.$user.load() == Service.User(name: "Ada"))
    #expect(try tool.run("get", "NEW", "--json").json()["type"] as? String == "String")

    try tool.write(#"{"string": 5, "int": "6", "list": ["b"], "color": "green"}"#, to: "app.json")
    let json = try tool.run("import", "app.json", "--overwrite")
    #expect(json.code == 0, "\(json.errors)")
    #expect(try service.$string.load() == "5")
    #expect(try service.$int.load() == 6)
    #expect(try service.$list.load() == ["b"])
    #expect(try service.$color.load() == .green)

    // What export wrote is of the type that it says.
    service.date = Date(timeIntervalSinceReferenceDate: 1.5)
    #expect(try tool.run("export", "--to", "out.json").code == 0)
    service.date = .now
    #expect(try tool.run("import", "out.json", "--overwrite").code == 0)
    #expect(try service.$date.load() == Date(timeIntervalSinceReferenceDate: 1.5))

    for text in [
      #"{"date": 5}"#, #"{"int": 5.5}"#, #"{"int": true}"#, #"{"user": ["Ada"]}"#,
      #"{"list": {"a": "b"}}"#,
      #"{"url": {"$type": "Date", "$value": 5}}"#,
    ] {
      let refused = try tool.run(
        ["import", "-", "--format", "json", "--overwrite"], input: Data(text.utf8))
      #expect(refused.code == 13, "\(text): \(refused.errors)")
      #expect(refused.errors.contains("(stored as "), "\(text): \(refused.errors)")
    }
  }

  @Test func oneThatWouldChangeItsTypeKeepsAllFromBeingImported() throws {
    let tool = try Tool()
    _ = try tool.run("set", "PORT", "--type", "int", input: "80")
    _ = try tool.run("set", "HOST", input: "old")
    try tool.write("HOST=new\nPORT=http\n", to: "app.env")
    let refused = try tool.run("import", "app.env", "--overwrite")
    #expect(refused.code == 13)
    #expect(refused.errors.contains("PORT (stored as Int, but the file has String"))
    #expect(try tool.run("get", "HOST").text == "old")
    #expect(try tool.run("import", "app.env", "--overwrite", "--type", "PORT=string").code == 0)
    #expect(try tool.run("get", "PORT", "--json").json()["type"] as? String == "String")
    try tool.write("HOST=h\nPORT=81\n", to: "app.env")
    #expect(try tool.run("import", "app.env", "--overwrite", "--type", "PORT=int").code == 0)
    #expect(try tool.run("get", "PORT", "--json").json()["type"] as? String == "Int")
    #expect(try tool.run("import", "app.env", "--overwrite", "--type", "auto").code == 0)
    #expect(try tool.run("get", "PORT", "--json").json()["type"] as? String == "String")
    #expect(try tool.run("import", "app.env", "--overwrite", "--type", "int").code == 65)
    #expect(try tool.run("import", "app.env", "--overwrite", "--type", "NONE=int").code == 64)
    #expect(try tool.run("import", "app.env", "--overwrite", "--type", "PORT=hunter2").code == 64)
  }
}
