"""Hostile sources outside Python: bounded time, no crash, no traceback, and the same findings again."""

from __future__ import annotations

import time

import pytest
from assumptions_corpus import Case, entries, written
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from languages_corpus import ALLOW, CASES, TREE

from stages.assumptions import Allow, Ledger, examine, syntax

PATHS = {"JavaScript": "src/n.js", "TypeScript": "src/n.tsx", "Go": "n.go", "Rust": "core/n.rs", "Java": "java/N.java"}


def look(path: str, text: str | bytes, tree: dict[str, str] = TREE, allow: Allow = ALLOW) -> Ledger:
    return examine(entries(tree), [written(path, text, tree)], allow, None)


N = 20_000
DEEP = {
    "brackets": "x = " + "(" * N + "1" + ")" * N,
    "unclosed": "{" * N,
    "minus": "x = " + "-" * N + "1",
    "sum": "x = " + "+".join(["a"] * N),
    "calls": "x = a" + "()" * N,
    "members": "x = process.env" + ".b" * N,
    "paths": "use a" + "::b" * N + ";",
    "blocks": "{ os.Getenv(k) " * 4_000,
    "quotes": "'\"`" * N,
    "comments": "/*" * N,
    "one line": "a('process.env');" * 40_000,
    "names of names": "".join(f"let x{i} = x{i - 1} + x{i - 1};" for i in range(1, 3_000)) + "process.env[x2999]",
    "too long": "x;\n" * 400_000,
    "no text": "\ufeff\r\r\n\u2028",
}


QUICK = ("brackets", "members", "too long", "no text")


@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.heavy) for name in DEEP]
)
@pytest.mark.parametrize("language", PATHS)
def test_what_nests_or_goes_on_ends_in_time(language: str, name: str) -> None:
    start = time.monotonic()
    ledger = look(PATHS[language], DEEP[name])
    assert time.monotonic() - start < 30
    assert all(len(f.symbol) <= 120 and "\n" not in f.symbol for f in ledger.findings)


def test_a_grammar_that_aborts_is_one_parse_error_and_takes_no_other_file_along() -> None:
    changes = [
        written("java/A.java", 'class A { String a = System.getenv("A"); }\n'),
        written("java/B.java", "a<" * N),
        written("java/C.java", 'class C { String c = System.getenv("C"); }\n'),
    ]
    ledger = examine(entries(TREE), changes, ALLOW, None)
    assert [(f.path, f.kind) for f in ledger.findings] == [
        ("java/A.java", "environment"),
        ("java/B.java", "parse_error"),
        ("java/C.java", "environment"),
    ]


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("language", "text"), [("Go", "case a:" * N), ("Rust", 'r#"' * 4 * N), ("TypeScript", "!a{" * 300_000)]
)
def test_a_grammar_that_takes_forever_is_stopped(language: str, text: str) -> None:
    start = time.monotonic()
    ledger = look(PATHS[language], text)
    assert time.monotonic() - start < 60
    assert ledger.parse_errors == 1


def test_many_findings_in_one_file_are_judged_in_time() -> None:
    tree = TREE | {f"src/old{i}.js": "const common = process.env.COMMON;\n" * 50 for i in range(200)}
    start = time.monotonic()
    ledger = look("src/n.js", "".join(f"process.env.K{i}; process.env.COMMON;\n" for i in range(20_000)), tree)
    assert time.monotonic() - start < 30
    assert ledger.invented_env == 20_000


@pytest.mark.parametrize("language", PATHS)
def test_bytes_that_are_not_utf8_are_said_and_the_rest_is_read(language: str) -> None:
    text = next(case.text for case in CASES[language] if any(e.startswith("environment") for e in case.expected))
    assert isinstance(text, str)
    ledger = look(PATHS[language], text.encode() + b"// \xff\n")
    assert ledger.parse_errors == 1
    assert ledger.invented_env >= 1


def test_what_a_grammar_did_not_know_before_the_patch_is_no_finding() -> None:
    old = "const = {;\nx();\n"
    tree = TREE | {"src/old.js": old}
    assert look("src/old.js", old + "y();\n", tree).parse_errors == 0
    assert look("src/old.js", "const = [;\nx();\n", tree).parse_errors == 1


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.sampled_from(sorted(PATHS)),
    st.one_of(st.text(max_size=200).map(lambda t: t.encode("utf-8", "surrogatepass")), st.binary(max_size=200)),
)
def test_random_bytes_never_crash(language: str, content: bytes) -> None:
    look(PATHS[language], content)


PIECES = {
    language: sorted({line for case in cases if isinstance(case.text, str) for line in case.text.splitlines()})
    for language, cases in CASES.items()
}


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.sampled_from(sorted(PATHS)), st.randoms(use_true_random=False), st.integers(1, 25))
def test_lines_thrown_together_never_crash(language: str, rng, count: int) -> None:  # type: ignore[no-untyped-def]
    text = "\n".join(rng.choice(PIECES[language]) for _ in range(count))
    for _ in range(rng.randrange(3)):
        at = rng.randrange(len(text) + 1)
        text = text[:at] + rng.choice("()[]{}.,:='\"\\\n\t #@*<>`/\u0130") + text[at + rng.randrange(3) :]
    look(PATHS[language], text)


MANIFESTS = {
    "package.json": [
        "[1]",
        "{" * 5_000,
        '{"name": 1, "imports": {"#a": {"b": [1]}}, "dependencies": []}',
        "\ufeff{}",
        "\xff",
    ],
    "tsconfig.json": [
        '{"compilerOptions": {"paths": {"*": [1, "../../../x"]}, "baseUrl": ".."}}',
        "//",
        '{"a": "' + "\\" * 9_999,
    ],
    "go.mod": ["module", 'module "x\nreplace a => ../../..\n', "replace => \n" * 99],
    "Cargo.toml": [
        "[package",
        "package = 1\ndependencies = []\n",
        "[dependencies]\na = {path = 1}\n[target]\nx = 1\n",
        "a." * 5_000 + "b = 1",
    ],
    "pom.xml": ["<dependency>" * 3_000, "<dependency><groupId>" * 3_000],
}


@pytest.mark.parametrize("name", MANIFESTS)
def test_hostile_manifests_declare_nothing_and_break_nothing(name: str) -> None:
    texts = {
        "package.json": ("src/n.js", 'import a from "redis"; import b from "#a";\n'),
        "tsconfig.json": ("src/n.js", 'import a from "redis";\n'),
        "go.mod": ("n.go", 'package p\nimport "github.com/redis/r"\n'),
        "Cargo.toml": ("n.rs", "use redis::R;\n"),
        "pom.xml": ("N.java", "import redis.R;\n"),
    }
    path, text = texts[name]
    for manifest in MANIFESTS[name]:
        assert look(path, text, {name: manifest}).invented_imports >= 1
        assert examine([], [written(name, manifest, {}), written(path, text, {})], ALLOW, None).invented_imports >= 1


RENAMED = {
    "package.json": (
        '{"name": "redis", "dependencies": {"redis": "1"}, "imports": {"#r": "redis"}}',
        "src/n.js",
        'import "redis";\nimport "#r";\n',
        2,
    ),
    "tsconfig.json": (
        '{"compilerOptions": {"paths": {"redis": ["./node_modules/redis"]}}}',
        "src/n.js",
        'import "redis";\n',
        1,
    ),
    "go.mod": (
        "module github.com/redis/r\nrequire github.com/redis/q v1.0.0\n",
        "n.go",
        'package p\nimport "github.com/redis/r/x"\nimport "github.com/redis/q"\n',
        2,
    ),
    "Cargo.toml": (
        '[package]\nname = "redis"\n[dependencies]\nlapin = "1"\n',
        "core/n.rs",
        "use redis::R;\nuse lapin::L;\n",
        2,
    ),
    "pom.xml": ("<dependency><groupId>redis.clients</groupId></dependency>", "N.java", "import redis.clients.R;\n", 1),
}


@pytest.mark.parametrize("name", RENAMED)
def test_a_patch_cannot_make_a_stranger_its_own_by_what_it_declares(name: str) -> None:
    manifest, path, text, count = RENAMED[name]
    changes = [written(name, manifest, TREE), written(path, text, TREE)]
    assert examine(entries(TREE), changes, ALLOW, None).invented_imports == count


def test_the_same_source_is_parsed_alike_alone_and_among_others() -> None:
    cases: list[Case] = [case for case in CASES["Java"] if isinstance(case.text, str)]
    texts = [syntax.decode(str(case.text).encode(), "java") for case in cases]
    alone = [next(syntax.parse([text])) for text in texts]
    for one, other in zip(alone, syntax.parse(texts), strict=True):
        assert isinstance(one, syntax.Tree)
        assert isinstance(other, syntax.Tree)
        assert [(n.kind, n.first, n.last) for n in one.nodes] == [(n.kind, n.first, n.last) for n in other.nodes]
