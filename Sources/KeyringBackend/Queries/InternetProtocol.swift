/// The protocol of a server, as in the attribute `protocol` of a network password.
public struct InternetProtocol: RawRepresentable, Hashable, Sendable {
  /// The name, in lower case by custom: a URL's scheme.
  public let rawValue: String

  /// The protocol of a name.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// HTTP.
  public static let http = InternetProtocol(rawValue: "http")
  /// HTTP over TLS.
  public static let https = InternetProtocol(rawValue: "https")
  /// FTP.
  public static let ftp = InternetProtocol(rawValue: "ftp")
  /// FTP over TLS.
  public static let ftps = InternetProtocol(rawValue: "ftps")
  /// File transfer over SSH.
  public static let sftp = InternetProtocol(rawValue: "sftp")
  /// SSH.
  public static let ssh = InternetProtocol(rawValue: "ssh")
  /// SMTP.
  public static let smtp = InternetProtocol(rawValue: "smtp")
  /// SMTP over TLS.
  public static let smtps = InternetProtocol(rawValue: "smtps")
  /// IMAP.
  public static let imap = InternetProtocol(rawValue: "imap")
  /// IMAP over TLS.
  public static let imaps = InternetProtocol(rawValue: "imaps")
  /// POP3.
  public static let pop3 = InternetProtocol(rawValue: "pop3")
  /// POP3 over TLS.
  public static let pop3s = InternetProtocol(rawValue: "pop3s")
  /// LDAP.
  public static let ldap = InternetProtocol(rawValue: "ldap")
  /// LDAP over TLS.
  public static let ldaps = InternetProtocol(rawValue: "ldaps")
  /// SMB, Windows' file sharing.
  public static let smb = InternetProtocol(rawValue: "smb")
  /// AFP, Apple's file sharing.
  public static let afp = InternetProtocol(rawValue: "afp")
  /// NFS.
  public static let nfs = InternetProtocol(rawValue: "nfs")
  /// WebDAV.
  public static let dav = InternetProtocol(rawValue: "dav")
  /// WebDAV over TLS.
  public static let davs = InternetProtocol(rawValue: "davs")
  /// Telnet.
  public static let telnet = InternetProtocol(rawValue: "telnet")
  /// IRC.
  public static let irc = InternetProtocol(rawValue: "irc")
  /// SOCKS, a proxy.
  public static let socks = InternetProtocol(rawValue: "socks")
}
