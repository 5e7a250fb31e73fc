"""What each platform brings along, and its functions that reach past a program's own process. Frozen data.

Sources: `module.builtinModules` of Node.js 20 and the `node:`-only modules up to 24; the packages of Go 1.26;
the packages that the public modules of JDK 17 export, with `java.lang.foreign` and `java.lang.classfile`.
"""

from __future__ import annotations

from stages.assumptions.tables import rows, words

NODE = words("""
    assert assert/strict async_hooks buffer child_process cluster console constants crypto dgram
    diagnostics_channel dns dns/promises domain events fs fs/promises http http2 https inspector
    inspector/promises module net os path path/posix path/win32 perf_hooks process punycode querystring
    readline readline/promises repl stream stream/consumers stream/promises stream/web string_decoder sys
    timers timers/promises tls trace_events tty url util util/types v8 vm wasi worker_threads zlib
    """)
NODE_ONLY = words("sea sqlite test test/reporters quic")
"""Builtins that are there with `node:` before them only."""

GO = words("""
    archive/tar archive/zip arena bufio builtin bytes cmp compress/bzip2 compress/flate compress/gzip
    compress/lzw compress/zlib container/heap container/list container/ring context crypto crypto/aes
    crypto/boring crypto/cipher crypto/des crypto/dsa crypto/ecdh crypto/ecdsa crypto/ed25519 crypto/elliptic
    crypto/fips140 crypto/hkdf crypto/hmac crypto/hpke crypto/md5 crypto/mlkem crypto/mlkem/mlkemtest
    crypto/pbkdf2 crypto/rand crypto/rc4 crypto/rsa crypto/sha1 crypto/sha256 crypto/sha3 crypto/sha512
    crypto/subtle crypto/tls crypto/tls/fipsonly crypto/x509 crypto/x509/pkix database/sql database/sql/driver
    debug/buildinfo debug/dwarf debug/elf debug/gosym debug/macho debug/pe debug/plan9obj embed encoding
    encoding/ascii85 encoding/asn1 encoding/base32 encoding/base64 encoding/binary encoding/csv encoding/gob
    encoding/hex encoding/json encoding/json/jsontext encoding/json/v2 encoding/pem encoding/xml errors expvar
    flag fmt go/ast go/build go/build/constraint go/constant go/doc go/doc/comment go/format go/importer
    go/parser go/printer go/scanner go/token go/types go/version hash hash/adler32 hash/crc32 hash/crc64
    hash/fnv hash/maphash html html/template image image/color image/color/palette image/draw image/gif
    image/jpeg image/png index/suffixarray io io/fs io/ioutil iter log log/slog log/syslog maps math math/big
    math/bits math/cmplx math/rand math/rand/v2 mime mime/multipart mime/quotedprintable net net/http
    net/http/cgi net/http/cookiejar net/http/fcgi net/http/httptest net/http/httptrace net/http/httputil
    net/http/pprof net/mail net/netip net/rpc net/rpc/jsonrpc net/smtp net/textproto net/url os os/exec
    os/signal os/user path path/filepath plugin reflect regexp regexp/syntax runtime runtime/asan runtime/cgo
    runtime/coverage runtime/debug runtime/metrics runtime/msan runtime/pprof runtime/race runtime/trace
    slices sort strconv strings structs sync sync/atomic syscall syscall/js testing testing/cryptotest
    testing/fstest testing/iotest testing/quick testing/slogtest testing/synctest text/scanner text/tabwriter
    text/template text/template/parse time time/tzdata unicode unicode/utf16 unicode/utf8 unique unsafe weak
    """)
RUST = words("std core alloc proc_macro test")
JDK = words("""
    com.sun.java.accessibility.util com.sun.jdi com.sun.jdi.connect com.sun.jdi.connect.spi com.sun.jdi.event
    com.sun.jdi.request com.sun.management com.sun.net.httpserver com.sun.net.httpserver.spi com.sun.nio.file
    com.sun.nio.sctp com.sun.security.auth com.sun.security.auth.callback com.sun.security.auth.login
    com.sun.security.auth.module com.sun.security.jgss com.sun.source.doctree com.sun.source.tree
    com.sun.source.util com.sun.tools.attach com.sun.tools.attach.spi com.sun.tools.javac java.applet java.awt
    java.awt.color java.awt.datatransfer java.awt.desktop java.awt.dnd java.awt.event java.awt.font
    java.awt.geom java.awt.im java.awt.im.spi java.awt.image java.awt.image.renderable java.awt.print
    java.beans java.beans.beancontext java.io java.lang java.lang.annotation java.lang.classfile
    java.lang.constant java.lang.foreign java.lang.instrument java.lang.invoke java.lang.management
    java.lang.module java.lang.ref java.lang.reflect java.lang.runtime java.math java.net java.net.http
    java.net.spi java.nio java.nio.channels java.nio.channels.spi java.nio.charset java.nio.charset.spi
    java.nio.file java.nio.file.attribute java.nio.file.spi java.rmi java.rmi.dgc java.rmi.registry
    java.rmi.server java.security java.security.cert java.security.interfaces java.security.spec java.sql
    java.text java.text.spi java.time java.time.chrono java.time.format java.time.temporal java.time.zone
    java.util java.util.concurrent java.util.concurrent.atomic java.util.concurrent.locks java.util.function
    java.util.jar java.util.logging java.util.prefs java.util.random java.util.regex java.util.spi
    java.util.stream java.util.zip javax.accessibility javax.annotation.processing javax.crypto
    javax.crypto.interfaces javax.crypto.spec javax.imageio javax.imageio.event javax.imageio.metadata
    javax.imageio.plugins.bmp javax.imageio.plugins.jpeg javax.imageio.plugins.tiff javax.imageio.spi
    javax.imageio.stream javax.lang.model javax.lang.model.element javax.lang.model.type javax.lang.model.util
    javax.management javax.management.loading javax.management.modelmbean javax.management.monitor
    javax.management.openmbean javax.management.relation javax.management.remote javax.management.remote.rmi
    javax.management.timer javax.naming javax.naming.directory javax.naming.event javax.naming.ldap
    javax.naming.ldap.spi javax.naming.spi javax.net javax.net.ssl javax.print javax.print.attribute
    javax.print.attribute.standard javax.print.event javax.rmi.ssl javax.script javax.security.auth
    javax.security.auth.callback javax.security.auth.kerberos javax.security.auth.login
    javax.security.auth.spi javax.security.auth.x500 javax.security.cert javax.security.sasl javax.smartcardio
    javax.sound.midi javax.sound.midi.spi javax.sound.sampled javax.sound.sampled.spi javax.sql
    javax.sql.rowset javax.sql.rowset.serial javax.sql.rowset.spi javax.swing javax.swing.border
    javax.swing.colorchooser javax.swing.event javax.swing.filechooser javax.swing.plaf javax.swing.plaf.basic
    javax.swing.plaf.metal javax.swing.plaf.multi javax.swing.plaf.nimbus javax.swing.plaf.synth
    javax.swing.table javax.swing.text javax.swing.text.html javax.swing.text.html.parser javax.swing.text.rtf
    javax.swing.tree javax.swing.undo javax.tools javax.transaction.xa javax.xml javax.xml.catalog
    javax.xml.crypto javax.xml.crypto.dom javax.xml.crypto.dsig javax.xml.crypto.dsig.dom
    javax.xml.crypto.dsig.keyinfo javax.xml.crypto.dsig.spec javax.xml.datatype javax.xml.namespace
    javax.xml.parsers javax.xml.stream javax.xml.stream.events javax.xml.stream.util javax.xml.transform
    javax.xml.transform.dom javax.xml.transform.sax javax.xml.transform.stax javax.xml.transform.stream
    javax.xml.validation javax.xml.xpath jdk.dynalink jdk.dynalink.beans jdk.dynalink.linker
    jdk.dynalink.linker.support jdk.dynalink.support jdk.javadoc.doclet jdk.jfr jdk.jfr.consumer jdk.jshell
    jdk.jshell.execution jdk.jshell.spi jdk.jshell.tool jdk.management.jfr jdk.net jdk.nio jdk.nio.mapmode
    jdk.swing.interop netscape.javascript org.ietf.jgss org.w3c.dom org.w3c.dom.bootstrap org.w3c.dom.css
    org.w3c.dom.events org.w3c.dom.html org.w3c.dom.ls org.w3c.dom.ranges org.w3c.dom.stylesheets
    org.w3c.dom.traversal org.w3c.dom.views org.w3c.dom.xpath org.xml.sax org.xml.sax.ext org.xml.sax.helpers
    sun.misc sun.reflect
    """)

_MAVEN = """
    ch.qos.logback=ch.qos.logback com.github.ben-manes.caffeine=com.github.benmanes.caffeine
    com.google.code.gson=com.google.gson com.google.guava=com.google.common,com.google.thirdparty
    com.h2database=org.h2 com.mysql=com.mysql com.squareup.okhttp3=okhttp3 com.squareup.okio=okio
    com.squareup.retrofit2=retrofit2 commons-cli=org.apache.commons.cli commons-codec=org.apache.commons.codec
    commons-io=org.apache.commons.io commons-lang=org.apache.commons.lang
    commons-logging=org.apache.commons.logging io.projectreactor=reactor jakarta.platform=jakarta
    joda-time=org.joda.time junit=org.junit,junit log4j=org.apache.log4j mysql=com.mysql
    net.java.dev.jna=com.sun.jna org.apache.httpcomponents=org.apache.http
    org.junit.jupiter=org.junit.jupiter,org.junit.platform org.projectlombok=lombok org.xerial=org.sqlite
    org.yaml=org.yaml.snakeyaml
"""
MAVEN = {group: tuple(packages.split(",")) for group, _, packages in (row.partition("=") for row in _MAVEN.split())}
"""Packages of Maven groups; a group that isn't listed is taken to name its own. An artifact `a:b` is of its group."""

JS_ENV_READS = frozenset(("Deno.env.get", "Deno.env.has"))
JS_ENV_WRITES = frozenset(("Deno.env.set", "Deno.env.delete", "module:process.loadEnvFile", "process.loadEnvFile"))
JS_CALLS = {
    **dict.fromkeys(
        rows("""
            module:child_process: exec execSync execFile execFileSync spawn spawnSync fork
            Bun: spawn spawnSync $
            Deno: Command run
        """),
        "shell",
    ),
    **dict.fromkeys(
        rows("""
            module:net: connect createConnection createServer Socket Server
            module:tls: connect createServer
            module:http: get request createServer
            module:https: get request createServer
            module:http2: connect createServer createSecureServer
            module:dgram: createSocket
            module:dns: lookup resolve resolve4 resolve6
            module:dns/promises: lookup resolve resolve4 resolve6
            Deno: connect connectTls listen listenTls serve
            Bun: connect listen serve fetch
            navigator: sendBeacon
        """)
        | {"fetch", "WebSocket", "XMLHttpRequest", "EventSource"},
        "socket",
    ),
    **dict.fromkeys(
        rows("""
            module:vm: runInContext runInNewContext runInThisContext compileFunction Script
        """)
        | {"eval", "Function"},
        "exec",
    ),
    "process.dlopen": "native",
    "Deno.dlopen": "native",
    "importScripts": "dynamic_import",
}

GO_ENV_READS = rows("""
    os: Getenv LookupEnv
    syscall: Getenv
""")
GO_CALLS = {
    **dict.fromkeys(("os.Environ", "syscall.Environ"), "env_escape"),
    **dict.fromkeys(
        rows("""
            os: Setenv Unsetenv Clearenv
            syscall: Setenv Unsetenv Clearenv
        """),
        "env_write",
    ),
    **dict.fromkeys(
        rows("""
            os/exec: Command CommandContext
            os: StartProcess
            syscall: Exec ForkExec StartProcess
        """),
        "shell",
    ),
    **dict.fromkeys(
        rows("""
            net: Dial DialTimeout DialTCP DialUDP DialUnix DialIP Listen ListenPacket ListenTCP ListenUDP ListenUnix
            net: LookupHost LookupIP LookupAddr LookupCNAME LookupTXT LookupMX LookupNS LookupSRV
            net/http: Get Head Post PostForm ListenAndServe ListenAndServeTLS Serve ServeTLS
            crypto/tls: Dial DialWithDialer Listen
            net/rpc: Dial DialHTTP
            net/smtp: Dial SendMail
            syscall: Socket Connect
        """),
        "socket",
    ),
    "plugin.Open": "native",
}

RUST_ENV_READS = frozenset(("std::env::var", "std::env::var_os"))
RUST_CALLS = {
    **dict.fromkeys(("std::env::vars", "std::env::vars_os"), "env_escape"),
    **dict.fromkeys(("std::env::set_var", "std::env::remove_var"), "env_write"),
    **dict.fromkeys(
        ("std::process::Command::new", "tokio::process::Command::new", "async_process::Command::new"), "shell"
    ),
    **dict.fromkeys(
        (
            "std::net::TcpStream::connect",
            "std::net::TcpStream::connect_timeout",
            "std::net::TcpListener::bind",
            "std::net::UdpSocket::bind",
            "std::os::unix::net::UnixStream::connect",
            "std::os::unix::net::UnixListener::bind",
            "tokio::net::TcpStream::connect",
            "tokio::net::TcpListener::bind",
            "tokio::net::UdpSocket::bind",
        ),
        "socket",
    ),
}
CARGO_SETS = ("CARGO_PKG_", "CARGO_BIN_EXE_", "CARGO_CFG_")
CARGO_SETS_WHOLE = words(
    "CARGO CARGO_MANIFEST_DIR CARGO_MANIFEST_PATH CARGO_CRATE_NAME CARGO_BIN_NAME CARGO_PRIMARY_PACKAGE "
    "CARGO_TARGET_TMPDIR OUT_DIR"
)
"""What Cargo itself hands to the compiler: `env!` of these reads nothing of the environment's owner."""

JAVA_NEW = {
    "java.lang.ProcessBuilder": "shell",
    **dict.fromkeys(
        rows("""
            java.net: Socket ServerSocket DatagramSocket MulticastSocket
        """),
        "socket",
    ),
}
JAVA_CALLS = {
    "java.lang.Runtime.getRuntime.exec": "shell",
    **dict.fromkeys(
        rows("""
            java.net.http.HttpClient: newHttpClient newBuilder
            java.nio.channels.SocketChannel: open
            java.nio.channels.ServerSocketChannel: open
            java.nio.channels.DatagramChannel: open
            java.nio.channels.AsynchronousSocketChannel: open
            java.net.InetAddress: getByName getAllByName
            javax.net.ssl.SSLSocketFactory: getDefault
        """),
        "socket",
    ),
    **dict.fromkeys(
        rows("""
            java.lang.System: load loadLibrary
            java.lang.Runtime.getRuntime: load loadLibrary
        """),
        "native",
    ),
}
JAVA_LANG = words("System Runtime Class ProcessBuilder ClassLoader")
