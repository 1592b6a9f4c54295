/// Variables that decide which code a program runs, which files it takes for its own, or whom it
/// trusts.
///
/// Whoever writes to a vault chooses the names in it. So a value does not get into one of these
/// variables by its name alone: the operator must name the variable.
struct SteeringVariables {
  /// What reads the variables, in the words of an error.
  let reader: String
  /// Whole names.
  let names: Set<String>
  /// How names begin.
  let prefixes: [String]
  /// How names end.
  let suffixes: [String]
  /// Whether their readers know them in capitals and in small letters.
  var ignoresCase = false

  private init(
    _ reader: String, _ names: String = "", prefixes: String = "", suffixes: String = "",
    ignoresCase: Bool = false
  ) {
    self.reader = reader
    self.names = Set(names.split(whereSeparator: \.isWhitespace).map(String.init))
    self.prefixes = prefixes.split(separator: " ").map(String.init)
    self.suffixes = suffixes.split(separator: " ").map(String.init)
    self.ignoresCase = ignoresCase
  }

  /// What reads a variable and is controlled by it; nil for a variable that controls nothing known.
  static func reader(of variable: String) -> String? {
    all.first { $0.has(variable) }?.reader
  }

  private func has(_ variable: String) -> Bool {
    let variable = ignoresCase ? variable.uppercased() : variable
    return names.contains(variable) || prefixes.contains { variable.hasPrefix($0) }
      || suffixes.contains { variable.hasSuffix($0) }
  }

  /// All of them, by what reads them.
  static let all: [SteeringVariables] = [
    SteeringVariables(
      "the dynamic loader and the C library",
      """
      GLIBC_TUNABLES GCONV_PATH LOCPATH NLSPATH GETCONF_DIR HOSTALIASES LOCALDOMAIN RES_OPTIONS
      RESOLV_HOST_CONF RESOLV_MULTI TMPDIR TZDIR TEMP TMP
      """, prefixes: "LD_ DYLD_ MALLOC_ GCOV_ ASAN_ LSAN_ MSAN_ TSAN_ UBSAN_"),
    SteeringVariables(
      "shells",
      """
      BASH_ENV BASH_LOADABLES_PATH BASHOPTS CDPATH ENV FCEDIT FIGNORE FPATH GLOBIGNORE HISTFILE
      IFS INPUTRC MAILPATH PATH PROMPT_COMMAND PS0 PS1 PS2 PS3 PS4 SHELL SHELLOPTS ZDOTDIR
      """, prefixes: "BASH_FUNC_"),
    SteeringVariables(
      "programs that look for the user's files",
      "HOME LOGNAME OLDPWD PWD TERM TERMCAP TERMINFO TERMINFO_DIRS USER",
      prefixes: "XDG_ SUDO_"),
    SteeringVariables(
      "Perl", "PERLLIB PERL_UNICODE PERL_CPANM_OPT GITPERLLIB",
      prefixes: "PERL5 PERL_MB_ PERL_MM_ PERLDB_"),
    SteeringVariables(
      "Python",
      """
      VIRTUAL_ENV JUPYTER_PATH JUPYTER_CONFIG_DIR JUPYTER_CONFIG_PATH DJANGO_SETTINGS_MODULE
      FLASK_APP MPLBACKEND BZR_PLUGIN_PATH BRZ_PLUGIN_PATH
      """,
      prefixes: "PYTHON PIP_ UV_ CONDA_ PYENV_ IPYTHON"),
    SteeringVariables(
      "Ruby", "RUBYOPT RUBYLIB RUBYPATH RUBYSHELL IRBRC", prefixes: "GEM_ BUNDLE_ BUNDLER_"),
    SteeringVariables(
      "Node.js",
      """
      NODE_OPTIONS NODE_PATH NODE_REPL_EXTERNAL_MODULE NODE_V8_COVERAGE NODE_CONFIG_DIR
      NODE_COMPILE_CACHE
      """),
    SteeringVariables(
      "npm and its kin", "DENO_DIR DENO_INSTALL_ROOT",
      prefixes: "NPM_CONFIG_ YARN_ PNPM_ BUN_ COREPACK_", ignoresCase: true),
    SteeringVariables(
      "Java",
      """
      CLASSPATH JAVA_HOME JAVA_OPTS JAVA_TOOL_OPTIONS JDK_JAVA_OPTIONS JAVACMD _JAVA_OPTIONS
      ANT_OPTS ANT_ARGS SBT_OPTS
      """, prefixes: "MAVEN_ GRADLE_ JDK_"),
    SteeringVariables(
      ".NET", "COR_ENABLE_PROFILING",
      prefixes: "DOTNET_ CORECLR_ COR_PROFILER COMPLUS_ MSBUILD", ignoresCase: true),
    SteeringVariables(
      "Lua", "LUA_PATH LUA_CPATH", prefixes: "LUA_INIT LUA_PATH_ LUA_CPATH_ LUAROCKS_"),
    SteeringVariables("PHP", "PHPRC PHP_INI_SCAN_DIR", prefixes: "COMPOSER_"),
    SteeringVariables("R", "R_HOME R_DEFAULT_PACKAGES", prefixes: "R_PROFILE R_ENVIRON R_LIBS"),
    SteeringVariables(
      "other interpreters",
      """
      TCLLIBPATH TCL_LIBRARY TK_LIBRARY GUILE_LOAD_PATH GUILE_LOAD_COMPILED_PATH
      GUILE_INIT_SEGMENT_SIZE ERL_FLAGS ERL_AFLAGS ERL_ZFLAGS ERL_LIBS ERL_INETRC
      ELIXIR_ERL_OPTIONS AWKPATH AWKLIBPATH EMACSLOADPATH EMACSDATA SBCL_HOME OCAMLRUNPARAM
      CAML_LD_LIBRARY_PATH HASKELL_DIST_DIR GHCRTS PSQLRC SQLITE_HISTORY PSMODULEPATH PSModulePath
      PLTCOLLECTS OCTAVE_SITE_INITFILE
      """, prefixes: "JULIA_ GHC_ OCAML"),
    SteeringVariables(
      "OpenSSL and others that decide whom to trust",
      """
      OPENSSL_CONF OPENSSL_CONF_INCLUDE OPENSSL_MODULES OPENSSL_ENGINES OPENSSL_ia32cap
      SSL_CERT_FILE SSL_CERT_DIR SSLKEYLOGFILE CURL_CA_BUNDLE CURL_HOME REQUESTS_CA_BUNDLE
      NODE_EXTRA_CA_CERTS NODE_TLS_REJECT_UNAUTHORIZED GNUTLS_SYSTEM_PRIORITY_FILE P11_KIT_STRICT
      PKCS11_MODULE_PATH GNUPGHOME KRB5_CONFIG KRB5CCNAME KRB5_KTNAME NIX_SSL_CERT_FILE
      GRPC_DEFAULT_SSL_ROOTS_FILE_PATH PGSSLROOTCERT PGSYSCONFDIR PGSERVICEFILE LDAPTLS_CACERT
      LDAPCONF LDAPRC VAULT_SKIP_VERIFY VAULT_CACERT
      """),
    SteeringVariables(
      "programs that connect through a proxy",
      "HTTP_PROXY HTTPS_PROXY FTP_PROXY ALL_PROXY NO_PROXY WS_PROXY WSS_PROXY RSYNC_PROXY",
      ignoresCase: true),
    SteeringVariables(
      "version control and secure shells",
      """
      GIT_ASKPASS GIT_DIR GIT_WORK_TREE GIT_EDITOR GIT_EXEC_PATH GIT_EXTERNAL_DIFF GIT_PAGER
      GIT_PROXY_COMMAND GIT_SEQUENCE_EDITOR GIT_TEMPLATE_DIR GIT_INDEX_FILE GIT_COMMON_DIR
      GIT_NAMESPACE GIT_OBJECT_DIRECTORY GIT_ALTERNATE_OBJECT_DIRECTORIES GIT_ALLOW_PROTOCOL
      GIT_PROTOCOL_FROM_USER GIT_ATTR_SOURCE SSH_ASKPASS SSH_ASKPASS_REQUIRE SSH_AUTH_SOCK
      SSH_SK_PROVIDER RSYNC_RSH CVS_RSH SVN_SSH SVN_EDITOR HGRCPATH HGEDITOR HGMERGE HGPLAIN
      CVSROOT CVSEDITOR P4CONFIG P4EDITOR
      """, prefixes: "GIT_SSH GIT_CONFIG GIT_SSL_ GIT_TRACE GIT_HTTP_ GIT_PROXY_"),
    SteeringVariables(
      "pagers, editors and browsers",
      """
      BAT_CONFIG_PATH BAT_PAGER BROWSER EDITOR EXINIT LESS LESSEDIT LESSKEY LESSKEYIN
      LESSKEY_CONTENT LESSKEYIN_SYSTEM LESSOPEN LESSCLOSE MANOPT MANPAGER MANPATH MORE MYVIMRC
      ALTERNATE_EDITOR GVIMINIT VIM
      PAGER SYSTEMD_EDITOR SYSTEMD_PAGER VIMINIT VIMRUNTIME VISUAL
      """, prefixes: "NVIM_"),
    SteeringVariables(
      "compilers and build tools",
      """
      CC CXX CPP LD AR AS CFLAGS CXXFLAGS CPPFLAGS LDFLAGS COMPILER_PATH CPATH C_INCLUDE_PATH
      CPLUS_INCLUDE_PATH GCC_EXEC_PREFIX LIBRARY_PATH MAKEFLAGS MFLAGS GNUMAKEFLAGS MAKEFILES MAKE
      MAKESHELL GOFLAGS GOPROXY GOENV GOPATH GOROOT GOTOOLCHAIN GONOSUMDB GONOSUMCHECK GONOPROXY
      GOPRIVATE GOINSECURE GOSUMDB GOEXPERIMENT GODEBUG GOCACHEPROG GOAUTH RUSTC RUSTDOC
      RUSTC_WRAPPER
      RUSTC_WORKSPACE_WRAPPER RUSTFLAGS RUSTDOCFLAGS ACLOCAL_PATH AUTOM4TE M4 M4PATH CONFIG_SITE
      """, prefixes: "CARGO_ RUSTUP_ SWIFT_ CMAKE_ PKG_CONFIG CCACHE_ DISTCC_ NINJA_ CGO_"),
    SteeringVariables(
      "desktop libraries",
      """
      GTK_MODULES GTK_PATH GTK_EXE_PREFIX GTK_IM_MODULE_FILE GTK_DATA_PREFIX
      GDK_PIXBUF_MODULE_FILE GIO_EXTRA_MODULES GIO_MODULE_DIR GSETTINGS_BACKEND
      GSETTINGS_SCHEMA_DIR GI_TYPELIB_PATH QML_IMPORT_PATH QML2_IMPORT_PATH QT_PLUGIN_PATH
      QT_QPA_PLATFORM_PLUGIN_PATH QT_QPA_PLATFORMTHEME GST_PLUGIN_PATH GST_PLUGIN_SCANNER DISPLAY
      WAYLAND_DISPLAY XAUTHORITY DBUS_SESSION_BUS_ADDRESS DBUS_SYSTEM_BUS_ADDRESS
      LIBGL_DRIVERS_PATH LIBVA_DRIVERS_PATH LADSPA_PATH ALSA_CONFIG_PATH VK_ICD_FILENAMES
      VK_DRIVER_FILES VK_LAYER_PATH VK_INSTANCE_LAYERS VK_ADD_LAYER_PATH OCL_ICD_VENDORS
      """, prefixes: "GST_PLUGIN_"),
    SteeringVariables(
      "containers, clouds and service managers",
      """
      KUBECONFIG DOCKER_HOST DOCKER_CONFIG DOCKER_CONTEXT DOCKER_CERT_PATH DOCKER_TLS_VERIFY
      CONTAINER_HOST BUILDKIT_HOST AWS_CONFIG_FILE AWS_SHARED_CREDENTIALS_FILE AWS_CA_BUNDLE
      CLOUDSDK_CONFIG CLOUDSDK_PYTHON GOOGLE_APPLICATION_CREDENTIALS HELM_PLUGINS
      TF_CLI_CONFIG_FILE TF_CLI_ARGS NOTIFY_SOCKET LISTEN_FDS LISTEN_PID LISTEN_FDNAMES
      CREDENTIALS_DIRECTORY STATE_DIRECTORY CACHE_DIRECTORY CONFIGURATION_DIRECTORY
      RUNTIME_DIRECTORY
      """, prefixes: "ANSIBLE_ TF_CLI_ARGS_"),
    // Many programs have a pager, an editor or options of their own under such a name.
    SteeringVariables(
      "programs that run what it names, or take options from it",
      "CCC_OVERRIDE_OPTIONS FZF_DEFAULT_COMMAND KUBECTL_EXTERNAL_DIFF RSYNC_CONNECT_PROG ZIPOPT",
      suffixes: "PAGER EDITOR ASKPASS _OPTS _OPTIONS _ADDOPTS _CMD_ARGS _PRELOAD", ignoresCase: true
    ),
    SteeringVariables(
      "programs that load plug-ins or settings from it",
      """
      APT_CONFIG AZURE_EXTENSION_DIR CHROME_DEVEL_SANDBOX CONFIG_SHELL CONTAINERS_CONF
      CUDA_INJECTION64_PATH GDAL_DRIVER_PATH GROFF_COMMAND_PREFIX GSS_MECH_CONFIG GS_LIB JJ_CONFIG
      MAGICK_CONFIGURE_PATH MAILRC ODBCSYSINI OMP_TOOL_LIBRARIES PKCS11_PROVIDER_MODULE
      RIPGREP_CONFIG_PATH RPM_CONFIGDIR SASL_PATH SDL_DYNAMIC_API TEXMFCNF TF_DATA_DIR TNS_ADMIN
      WGETRC __EGL_VENDOR_LIBRARY_FILENAMES shell_escape
      """, suffixes: "_PLUGIN_PATH _PLUGIN_DIR _PLUGINS"),
  ]
}
