"""Functions of the standard library that reach past a program's own process, by what they do. Frozen data."""

from __future__ import annotations


def rows(table: str) -> frozenset[str]:
    """Dotted names from lines of `module: name name`."""
    return frozenset(
        f"{module}.{name}"
        for row in table.strip().splitlines()
        for module, _, names in [row.strip().partition(": ")]
        for name in names.split()
    )


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


ENVIRON = frozenset(("os.environ", "os.environb"))
ENV_READS = rows("""
    os: getenv getenvb
    os.environ: get pop setdefault __getitem__ __contains__
    os.environb: get pop setdefault __getitem__ __contains__
""")
ENV_WRITES = rows("""
    os: putenv unsetenv
    os.environ: update clear __setitem__ __delitem__
    os.environb: update clear __setitem__ __delitem__
""")
SHELL = rows("""
    subprocess: run call check_call check_output Popen getoutput getstatusoutput
    os: system popen startfile posix_spawn posix_spawnp
    os: execl execle execlp execlpe execv execve execvp execvpe
    os: spawnl spawnle spawnlp spawnlpe spawnv spawnve spawnvp spawnvpe
    pty: spawn
    asyncio: create_subprocess_exec create_subprocess_shell
    asyncio.subprocess: create_subprocess_exec create_subprocess_shell
""")
SOCKET = rows("""
    socket: socket SocketType create_connection create_server socketpair fromfd getaddrinfo gethostbyname
    socket: gethostbyname_ex gethostbyaddr getfqdn
    _socket: socket
    asyncio: open_connection open_unix_connection start_server start_unix_server
    urllib.request: urlopen urlretrieve build_opener
    http.client: HTTPConnection HTTPSConnection
    http.server: HTTPServer ThreadingHTTPServer
    socketserver: TCPServer UDPServer ThreadingTCPServer ThreadingUDPServer UnixStreamServer
    ftplib: FTP FTP_TLS
    smtplib: SMTP SMTP_SSL LMTP
    poplib: POP3 POP3_SSL
    imaplib: IMAP4 IMAP4_SSL IMAP4_stream
    nntplib: NNTP NNTP_SSL
    telnetlib: Telnet
    xmlrpc.client: ServerProxy
    xmlrpc.server: SimpleXMLRPCServer
    multiprocessing.connection: Client Listener
    logging.handlers: SocketHandler DatagramHandler HTTPHandler SMTPHandler SysLogHandler
""")
NATIVE = rows("""
    ctypes: CDLL PyDLL WinDLL OleDLL
    ctypes.cdll: LoadLibrary
    ctypes.pydll: LoadLibrary
""")
IMPORTERS = rows("""
    builtins: __import__
    importlib: import_module find_loader
    importlib.util: find_spec
    runpy: run_module
    pkgutil: resolve_name find_loader
    pytest: importorskip
""")
LOADERS = rows("""
    importlib.util: spec_from_file_location spec_from_loader
    importlib.machinery: SourceFileLoader SourcelessFileLoader ExtensionFileLoader
    runpy: run_path
    zipimport: zipimporter
    imp: load_source load_module load_dynamic
    site: addsitedir
    sys.path: append insert extend
    sys.meta_path: append insert
    sys.path_hooks: append insert
""")
IMPORT_STATE = frozenset(("sys.path", "sys.modules", "sys.meta_path", "sys.path_hooks"))
EXEC = rows("""
    builtins: exec eval compile
""")
CODE = rows("""
    marshal: load loads
    types: FunctionType CodeType
    code: InteractiveInterpreter InteractiveConsole
""")
CARRIERS = frozenset(("functools.partial", "asyncio.to_thread"))  # f(g, *args) calls g(*args)

HANDED_ON: dict[str, str] = {
    **dict.fromkeys(ENV_READS, "opaque"),
    **dict.fromkeys((n for n in SHELL if not n.endswith(".Popen")), "shell"),
    **dict.fromkeys((n for n in SOCKET if n.rpartition(".")[2].islower() and n != "socket.socket"), "socket"),
    **dict.fromkeys(IMPORTERS, "dynamic_import"),
    **dict.fromkeys(EXEC, "exec"),
}
"""Functions that count when they are passed on uncalled. Classes don't: they stand in type checks too."""
