/// Variables that decide which code any program runs, which files it takes for its own, or whom it trusts.
///
/// Whoever writes to a vault chooses the names in it. So a value does not get into one of these
/// variables by its name alone: the operator must name the variable. Variables of single programs and
/// interpreters are not among them.
enum SteeringVariables {
  /// What reads the variables, in the words of an error, and their names; a name with `*` is a beginning.
  static let all: [(reader: String, names: [Substring])] = [
    (
      "the dynamic loader and the C library",
      """
      LD_* DYLD_* MALLOC_* GLIBC_TUNABLES GCONV_PATH LOCPATH NLSPATH HOSTALIASES LOCALDOMAIN RES_OPTIONS
      RESOLV_HOST_CONF TMPDIR TZDIR TEMP TMP
      """
    ),
    (
      "shells",
      """
      BASH_ENV BASH_LOADABLES_PATH BASHOPTS BASH_FUNC_* CDPATH ENV FPATH GLOBIGNORE HISTFILE IFS INPUTRC PATH
      PROMPT_COMMAND PS0 PS1 PS2 PS3 PS4 SHELL SHELLOPTS ZDOTDIR
      """
    ),
    (
      "programs that look for the user's files",
      "HOME LOGNAME OLDPWD PWD TERM TERMCAP TERMINFO TERMINFO_DIRS USER XDG_* SUDO_*"
    ),
    (
      "OpenSSL and others that decide whom to trust",
      """
      OPENSSL_CONF OPENSSL_CONF_INCLUDE OPENSSL_MODULES OPENSSL_ENGINES SSL_CERT_FILE SSL_CERT_DIR
      SSLKEYLOGFILE CURL_CA_BUNDLE REQUESTS_CA_BUNDLE NODE_EXTRA_CA_CERTS NODE_TLS_REJECT_UNAUTHORIZED
      GNUTLS_SYSTEM_PRIORITY_FILE PKCS11_MODULE_PATH KRB5_CONFIG NIX_SSL_CERT_FILE
      GRPC_DEFAULT_SSL_ROOTS_FILE_PATH
      """
    ),
    (
      "programs that connect through a proxy",
      """
      HTTP_PROXY HTTPS_PROXY FTP_PROXY ALL_PROXY NO_PROXY WS_PROXY WSS_PROXY RSYNC_PROXY http_proxy
      https_proxy ftp_proxy all_proxy no_proxy ws_proxy wss_proxy rsync_proxy
      """
    ),
  ].map { ($0, $1.split(whereSeparator: \.isWhitespace)) }

  /// What reads a variable and is controlled by it; nil for a variable that controls nothing known.
  static func reader(of variable: String) -> String? {
    all.first { _, names in
      names.contains { $0.last == "*" ? variable.hasPrefix($0.dropLast()) : variable == $0 }
    }?.reader
  }
}
