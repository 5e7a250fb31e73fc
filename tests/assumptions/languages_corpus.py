"""Small patches in JavaScript, TypeScript, Go, Rust and Java, with the findings that a person expects of them.

As in `assumptions_corpus`: written by hand before the code was run on them; `kind symbol line`, with `note` before
it where it doesn't count. Each language's clean look-alikes, a third of its cases or more, expect nothing.
"""

from __future__ import annotations

from assumptions_corpus import Case

from stages.assumptions import Allow

TREE = {
    "package.json": '{"name": "shop", "workspaces": ["packages/*"], "dependencies": {"express": "^4", "@types/pg": "1"},'
    ' "devDependencies": {"typescript": "5"}, "imports": {"#db": "./src/db.js", "#far": "redis"}}',
    "packages/ui/package.json": '{"name": "@shop/ui"}',
    "packages/ui/index.ts": "export const x = 1;\n",
    "tsconfig.json": '{\n  // paths\n  "compilerOptions": {"paths": {"~lib/*": ["./lib/*"]}, "baseUrl": "src",}\n}\n',
    "src/db.js": 'import express from "express";\nimport lodash from "lodash";\nconst h = process.env.HOME;\n',
    "src/lib/util.ts": "export const u = 1;\n",
    "src/lib/index.ts": "",
    "src/data.json": "{}\n",
    "src/view.tsx": "export const v = <p>Don't</p>;\n",
    "src/jobs.js": 'const { execSync } = require("child_process");\nexecSync("git log");\n',
    "go.mod": "module example.com/shop\n\ngo 1.22\n\nrequire (\n\tgithub.com/pkg/errors v0.9.1 // indirect\n)\n"
    "replace example.com/tools => ./tools\n",
    "main.go": 'package main\n\nimport (\n\t"os"\n\n\t"github.com/google/uuid"\n)\n\nvar h = os.Getenv("HOME")\n',
    "store/store.go": "package store\n",
    "tools/tools.go": "package tools\n",
    "Cargo.toml": '[package]\nname = "shop-core"\nversion = "0.1.0"\nedition = "2021"\n\n[dependencies]\nserde = "1"\n'
    'anyhow = { version = "1" }\nshop-util = { path = "util" }\n',
    "util/Cargo.toml": '[package]\nname = "shop-util"\nversion = "0.1.0"\nedition = "2021"\n',
    "util/src/lib.rs": "pub fn u() {}\n",
    "core/lib.rs": 'mod ledger;\nuse rand::Rng;\npub fn h() -> String { std::env::var("HOME").unwrap() }\n',
    "core/ledger.rs": "pub struct Row;\n",
    "pom.xml": "<project><dependencies><dependency><groupId>com.google.code.gson</groupId>"
    "<artifactId>gson</artifactId></dependency></dependencies></project>\n",
    "java/com/shop/Ledger.java": "package com.shop;\n\nimport org.slf4j.Logger;\n\npublic class Ledger {\n"
    '  String h = System.getenv("HOME");\n}\n',
    "java/com/shop/Clock.java": "package com.shop;\n\npublic interface Clock {}\n",
}
ALLOW = Allow(
    imports=(
        "zod",
        "@acme",
        "date-fns/format",
        "github.com/stretchr/testify",
        "tokio::sync",
        "serde-json",
        "org.junit:junit",
        "com.fasterxml.jackson.databind",
    ),
    stdlib=True,
    env=("RETRY_LIMIT",),
    files_write=("**",),
)
STRICT = Allow((), False, (), ("**",))


def js(
    name: str, text: str | bytes, *expected: str, path: str = "src/new.js", allow: Allow = ALLOW, **others: str
) -> Case:
    return Case(
        name, text, expected, path, allow, {k.replace("__", "/").replace("_dot_", "."): v for k, v in others.items()}
    )


def ts(name: str, text: str, *expected: str, path: str = "src/new.ts", allow: Allow = ALLOW) -> Case:
    return Case(name, text, expected, path, allow)


def go(name: str, text: str, *expected: str, path: str = "new.go", allow: Allow = ALLOW) -> Case:
    return Case(name, "package main\n" + text, expected, path, allow)


def rs(name: str, text: str, *expected: str, path: str = "core/new.rs", allow: Allow = ALLOW) -> Case:
    return Case(name, text, expected, path, allow)


def java(name: str, text: str, *expected: str, path: str = "java/com/shop/New.java", allow: Allow = ALLOW) -> Case:
    return Case(name, "package com.shop;\n" + text, expected, path, allow)


JAVASCRIPT = [
    js("a queue that nobody named", 'import Redis from "redis";\n', "import redis 1"),
    js("for its effects", 'import "redis";\n', "import redis 1"),
    js("re-exported", 'export * from "redis";\nexport { a as b } from "bull";\n', "import redis 1", "import bull 2"),
    js("required", 'const r = require("redis");\nconst { q } = require(`bull`);\n', "import redis 1", "import bull 2"),
    js("in a function", 'async function f() {\n  return import("redis");\n}\n', "import redis 2"),
    js("by a joined name", 'const P = "re";\nrequire(P + "dis");\n', "import redis 2"),
    js(
        "by a require of its own",
        'import { createRequire as c } from "node:module";\nconst q = c(import.meta.url);\nq("redis");\n',
        "import redis 3",
    ),
    js("probed for", 'require.resolve("redis");\n', "import redis 1"),
    js(
        "another scope",
        'import a from "@acmes/x";\nimport b from "lodash.merge";\n',
        "import @acmes/x 1",
        "import lodash.merge 2",
    ),
    js("beside what is allowed", 'import p from "date-fns/parse";\n', "import date-fns/parse 1"),
    js(
        "a sibling that isn't there",
        'import x from "./ghost.js";\nimport y from "../../far.js";\n',
        "import src/ghost.js 1",
        "import ../../far.js 2",
    ),
    js("an inner name that leads out", 'import r from "#far";\n', "import #far 1"),
    js(
        "no platform here",
        'import fs from "node:fs";\nimport p from "path";\n',
        "import node:fs 1",
        "import path 2",
        allow=STRICT,
    ),
    js("a platform that isn't there", 'import x from "node:redis";\n', "import node:redis 1"),
    js(
        "an unknown module",
        "export const f = (n) => require(n);\nimport(`./x/${y}`);\n",
        "dynamic_import require 1",
        "dynamic_import import 2",
    ),
    js(
        "a key",
        'const a = process.env.API_KEY;\nconst b = process.env["API_URL"];\n',
        "environment API_KEY 1",
        "environment API_URL 2",
    ),
    js("a key with a question", "const a = process?.env?.API_KEY ?? 1;\n", "environment API_KEY 1"),
    js(
        "taken apart",
        "const {\n  A,\n  B: b = 1,\n  ...rest\n} = process.env;\n",
        "environment A 2",
        "environment B 3",
        "env_escape process.env 4",
    ),
    js("taken apart deeper", "const { env: { A, B } } = process;\n", "environment A 1", "environment B 1"),
    js(
        "by another name",
        "const { env } = process;\nconst e = env;\ne.A;\nenv['B'];\n",
        "environment A 3",
        "environment B 4",
    ),
    js(
        "imported",
        'import proc, { env as e } from "node:process";\ne.A;\nproc.env.B;\nrequire("process").env.C;\n',
        "environment A 2",
        "environment B 3",
        "environment C 4",
    ),
    js(
        "as a default argument",
        "function f(env = process.env, { A } = process.env) {\n  return env.B;\n}\n",
        "environment A 1",
        "environment B 2",
    ),
    js(
        "through the global",
        "globalThis.process.env.A;\nglobal['process']['env']['B'];\n",
        "environment A 1",
        "environment B 2",
    ),
    js(
        "asked for",
        "if ('A' in process.env) {}\nprocess.env.hasOwnProperty('B');\n",
        "environment A 1",
        "environment B 2",
    ),
    js("a constant's name", "const K = 'API';\nprocess.env[`${K}_KEY`];\n", "environment API_KEY 2"),
    js("written with escapes", "process.\\u0065nv['\\x41PI'];\n", "environment API 1"),
    js("a bundler's", "import.meta.env.VITE_KEY;\nimport.meta.env.MODE;\n", "environment VITE_KEY 1"),
    js(
        "other runtimes",
        "Deno.env.get('A');\nBun.env.B;\nDeno.env.toObject();\n",
        "environment A 1",
        "environment B 2",
        "env_escape Deno.env 3",
    ),
    js(
        "unknown keys",
        "const f = (k) => process.env[k];\nfor (const k of ks) process.env[k];\n",
        "opaque process.env 1",
        "opaque process.env 2",
    ),
    js(
        "handed on",
        "f(process.env);\nconst o = { ...process.env };\nexport const env = process.env;\n",
        "env_escape process.env 1",
        "env_escape process.env 2",
        "env_escape process.env 3",
    ),
    js(
        "written",
        "process.env.A = '1';\ndelete process.env.B;\nprocess.env.C ||= '2';\n",
        "env_write A 1",
        "env_write B 2",
        "environment C 3",
    ),
    js(
        "programs",
        'import { exec, spawn as s } from "child_process";\nexec(`curl ${u}`);\ns("ls", []);\ns(x);\n',
        "shell curl 2",
        "shell ls 3",
        "shell child_process.spawn 4",
    ),
    js(
        "a program, later",
        'import cp from "child_process";\nimport { promisify } from "util";\npromisify(cp.exec);\n',
        "shell child_process.exec 3",
    ),
    js(
        "the network",
        'import net from "net";\nnet.connect(1);\nfetch(u);\nnew WebSocket(u);\n',
        "socket net.connect 2",
        "socket fetch 3",
        "socket WebSocket 4",
    ),
    js("code in a text", "eval(x);\nnew Function('return 1');\n", "exec eval 1", "exec Function 2"),
    js("the file of it", "fs.readFileSync('/proc/self/environ');\n", "env_escape /proc/self/environ 1"),
    js("in markup", "const n = <a href={process.env.A}>Don't</a>;\n", "environment A 1", path="src/new.jsx"),
    js("no JavaScript at all", "const = {;\n", "parse_error src/new.js 1"),
    js("not UTF-8", b"const a = 1;\nconst b = '\xff';\n", "parse_error src/new.js 2"),
    js("a NUL byte", b"a;\n\0\n", "parse_error src/new.js 2", "note binary src/new.js 0"),
    # look-alikes
    js("the list", 'import { z } from "zod";\nimport a from "@acme/x";\nimport f from "date-fns/format";\n'),
    js("the platform", 'import fs from "node:fs/promises";\nimport p from "path";\nimport t from "node:test";\n'),
    js(
        "siblings",
        'import d from "./data.json";\nimport u from "./lib/util.js";\nimport * as l from "./lib";\nimport "../packages/ui/index.ts";\n',
    ),
    js(
        "the workspace",
        'import u from "@shop/ui";\nimport d from "#db";\nimport l from "~lib/util";\nimport m from "lib/util";\n',
    ),
    js(
        "another environ",
        "const process = { env: {} };\nprocess.env.A;\nfunction f(process) { return process.env.B; }\nconfig.env.C; this.env.D; x.process.env.E;\n",
    ),
    js(
        "only words",
        "// import x from 'redis'; process.env.A\n/* require('redis') */\nconst s = \"require('redis') process.env.A\";\nconst t = `process.env.B`;\n",
    ),
    js("another require", "function require(n) {}\nrequire('redis');\nobj.require('redis');\n"),
    js(
        "other methods of the name",
        "re.exec(x); db.exec('ls'); a.spawn('b'); m.eval('x'); cache.fetch(k); x.env.get('A');\n",
    ),
    js(
        "is there an environment",
        "if (typeof process !== 'undefined' && process.env) {}\nprocess.argv; process.cwd();\n",
    ),
    js("an allowed key", "process.env.RETRY_LIMIT;\nconst { RETRY_LIMIT } = process.env;\n"),
    js("kept in a name", "const env = process.env;\nlet e; e = env;\n"),
    js("a new sibling of the patch", 'import x from "./fresh";\n', src__fresh_dot_js="1;\n"),
    js("a pattern that says eval", "const r = /process.env.A/; const q = a / b / process;\n"),
    js("an empty file", ""),
    js(
        "a key of something else",
        "const o = { process: 1, require: 2, env: 3 };\no.require('redis');\no['process'].env.A;\n",
    ),
    js("a class of the name", "class WebSocket {}\nnew WebSocket(u);\nfunction fetch(u) {}\nfetch(u);\n"),
    js("a method called import", "loader.import('redis');\nx = { import: 1 };\n"),
    js(
        "a parameter of the name",
        "const f = (process, { env } = {}) => env.A + process.env.B;\n[1].map(require => require('redis'));\n",
    ),
    js("an error caught", "try {} catch (process) { process.env.A; }\nfor (const process of ps) { process.env.B; }\n"),
    js(
        "already there",
        'import e from "express";\nimport l from "lodash/fp";\nprocess.env.HOME;\n',
        "note import express 1",
        "note import lodash/fp 2",
        "note environment HOME 3",
    ),
    js("a program of the tree", 'require("child_process").execSync("git status");\n', "note shell git 1"),
]

TYPESCRIPT = [
    ts(
        "types only",
        'import type { R } from "redis";\nimport { type Q } from "bull";\n',
        "import redis 1",
        "import bull 2",
    ),
    ts("by require", 'import r = require("redis");\nr.x();\n', "import redis 1"),
    ts("a type's module", 'let q: import("redis").Client;\n', "import redis 1"),
    ts("types handed on", 'export type { R } from "redis";\n', "import redis 1"),
    ts("below an unknown", 'import x from "redis/lib/y";\n', "import redis/lib/y 1"),
    ts("as any", "(process as any).env.A;\nprocess.env.B!;\n", "environment A 1", "environment B 2"),
    ts("a typed name", "const e: Record<string, string | undefined> = process.env;\ne.A;\n", "environment A 2"),
    ts("a typed argument", "function f(env: Env = process.env) {\n  return env['A'];\n}\n", "environment A 2"),
    ts("on an object", "class C {\n  env = process.env;\n}\n", "env_escape process.env 2"),
    ts("a key of a type", "const f = (k: keyof Env) => process.env[k];\n", "opaque process.env 1"),
    ts("a component", "export const C = () => <p>{process.env.A}</p>;\n", "environment A 1", path="src/new.tsx"),
    ts("a path that isn't there", 'import x from "~lib/ghost";\n', "import ~lib/ghost 1"),
    ts("a program", 'import * as cp from "node:child_process";\ncp.execFileSync("curl", [u]);\n', "shell curl 2"),
    ts("a module's file", 'import x from "redis";\n', "import redis 1", path="src/new.mts"),
    # look-alikes
    ts(
        "paths of the configuration",
        'import { u } from "~lib/util";\nimport { w } from "lib/util";\nimport v from "./view";\n',
    ),
    ts("types of the list", 'import type { Z } from "zod";\nexport type { Y } from "@acme/y";\n'),
    ts(
        "an interface of the name",
        "interface process { env: string }\ndeclare namespace NodeJS { interface ProcessEnv { A: string } }\n",
    ),
    ts("a method of the name", "class C {\n  require(n: string) {}\n  f() { this.require('redis'); }\n}\n"),
    ts("a generic call", "const x = f<string>(y);\nconst g = <T,>(v: T) => v;\nlet z = <any>y;\n"),
    ts("an argument of the name", "export function f(process: { env: E }) { return process.env.A; }\n"),
    ts("text in markup", "export const C = () => <p>Don't require('redis') process.env.A</p>;\n", path="src/new.tsx"),
    ts(
        "what a grammar doesn't know",
        "interface I<in out T, out U extends T> {}\nconst n = 1;\nexport { n as null };\nexport default function (): void;\n",
    ),
    ts(
        "already there", 'import e from "express";\nimport pg from "pg";\n', "note import express 1", "note import pg 2"
    ),
]

GO = [
    go("a queue that nobody named", 'import "github.com/redis/go-redis/v9"\n', "import github.com/redis/go-redis/v9 2"),
    go(
        "a block",
        'import (\n\t"fmt"\n\tr "github.com/a/redis"\n\t. "github.com/b/dot"\n\t_ `github.com/c/blank`\n)\n',
        "import github.com/a/redis 4",
        "import github.com/b/dot 5",
        "import github.com/c/blank 6",
    ),
    go("beside what is allowed", 'import "github.com/stretchr/testify2"\n', "import github.com/stretchr/testify2 2"),
    go("a library that isn't standard", 'import "strings/fuzzy"\n', "import strings/fuzzy 2"),
    go("no standard library", 'import "strings"\n', "import strings 2", allow=STRICT),
    go("a package that isn't there", 'import "example.com/shop/ghost"\n', "import example.com/shop/ghost 2"),
    go("C", 'import "C"\n', "native C 2"),
    go(
        "keys",
        'import "os"\nvar a = os.Getenv("A")\nvar b, ok = os.LookupEnv("B")\n',
        "environment A 3",
        "environment B 4",
    ),
    go("by another name", 'import e "os"\nvar a = e.Getenv(`A`)\n', "environment A 3"),
    go("by a dot", 'import . "os"\nvar a = Getenv("A")\n', "environment A 3"),
    go(
        "a constant's name",
        'import "os"\nconst P = "API"\nfunc f() string {\n\tk := P + "_KEY"\n\treturn os.Getenv(k)\n}\n',
        "environment API_KEY 6",
    ),
    go(
        "a function in a name",
        'import "os"\nfunc f() string {\n\tget := os.Getenv\n\treturn get("A")\n}\n',
        "environment A 5",
    ),
    go("expanded", 'import "os"\nvar a = os.ExpandEnv("$A/${B}")\n', "environment A 3", "environment B 3"),
    go("an unknown key", 'import "os"\nfunc f(k string) string { return os.Getenv(k) }\n', "opaque os.Getenv 3"),
    go(
        "handed on",
        'import "os"\nvar a = os.Expand("$A", os.Getenv)\nvar b = os.Environ()\n',
        "opaque os.Getenv 3",
        "env_escape os.Environ 4",
    ),
    go(
        "written",
        'import "os"\nfunc f() { os.Setenv("A", "1"); os.Clearenv() }\n',
        "env_write A 3",
        "env_write os.Clearenv 3",
    ),
    go(
        "programs",
        'import "os/exec"\nfunc f(x string) {\n\texec.Command("curl", x)\n\texec.CommandContext(c, "ls")\n\texec.Command(x)\n}\n',
        "shell curl 4",
        "shell ls 5",
        "shell os/exec.Command 6",
    ),
    go("the network", 'import "net/http"\nfunc f() { http.Get("u") }\n', "socket net/http.Get 3"),
    go("no Go at all", "func {{ (\n", "parse_error new.go 2"),
    # look-alikes
    go("the standard library", 'import (\n\t"encoding/json"\n\t"math/rand/v2"\n\t"log/slog"\n)\n'),
    go("the list", 'import "github.com/stretchr/testify/require"\n'),
    go("the tree itself", 'import (\n\t"example.com/shop/store"\n\t"example.com/tools"\n)\n'),
    go(
        "another os",
        'import "example.com/shop/store"\ntype O struct{}\nfunc (O) Getenv(k string) string { return k }\nfunc f(os O) string { return os.Getenv("A") }\n',
    ),
    go(
        "another exec",
        'type E struct{}\nfunc (E) Command(s string) {}\nfunc f(exec E) { exec.Command("ls") }\nfunc Getenv(k string) string { return k }\nvar x = Getenv("A")\n',
    ),
    go(
        "only words",
        '// os.Getenv("A")\n/* import "github.com/a/b" */\nvar s = "os.Getenv(A)"\nvar t = `import "github.com/a/b"`\n',
    ),
    go("only the file system", 'import "os"\nfunc f() { os.Open("x"); os.Exit(1); _ = os.Args }\n'),
    go("an allowed key", 'import "os"\nvar a = os.Getenv("RETRY_LIMIT")\n'),
    go("kept in a name", 'import "os"\nfunc f() {\n\tget := os.Getenv\n\t_ = get\n}\n'),
    go("an error of exec", 'import "os/exec"\nvar e exec.Error\nvar p, _ = exec.LookPath("ls")\n'),
    go(
        "already there",
        'import (\n\t"github.com/google/uuid"\n\t"github.com/pkg/errors"\n\t"os"\n)\nvar h = os.Getenv("HOME")\n',
        "note import github.com/google/uuid 3",
        "note import github.com/pkg/errors 4",
        "note environment HOME 7",
    ),
]

RUST = [
    rs("a queue that nobody named", "use redis::Commands;\n", "import redis 1"),
    rs("many names are one import", "use redis::{self, aio::{Connection, Multi}, Client as C};\n", "import redis 1"),
    rs("two in one", "use {redis::Client, lapin::*};\n", "import redis 1", "import lapin 1"),
    rs("an extern crate", "#[macro_use]\nextern crate log as l;\n", "import log 2"),
    rs("with colons before it", "use ::redis as r;\nfn f() { r::x(); }\n", "import redis 1"),
    rs(
        "written out",
        "fn f(c: redis::Client) -> lapin::R<chrono::Utc> {\n    uuid::Uuid::new_v4()\n}\n",
        "import redis 1",
        "import lapin 1",
        "import chrono 1",
        "import uuid 2",
    ),
    rs(
        "in macros and attributes",
        '#[derive(schemars::Schema)]\nstruct S;\n#[async_std::main]\nasync fn m() { tracing::info!("x"); println!("{}", regex::escape("x")); }\n',
        "import schemars 1",
        "import async_std 3",
        "import tracing 4",
        "import regex 4",
    ),
    rs(
        "beside what is allowed",
        "use tokio::net::TcpStream;\nuse tokio::sync::Mutex;\n",
        "import tokio::net::TcpStream 1",
    ),
    rs("no standard library", "use core::fmt;\n", "import core 1", allow=STRICT),
    rs("a key", 'fn f() { std::env::var("A").ok(); std::env::var_os("B"); }\n', "environment A 1", "environment B 1"),
    rs("by its module", 'use std::env;\nfn f() { env::var("A"); }\n', "environment A 2"),
    rs(
        "by other names",
        'use std::{env as e, env::var as v};\nfn f() { e::var("A"); v("B"); }\n',
        "environment A 2",
        "environment B 2",
    ),
    rs("by a star", 'use std::env::*;\nfn f() { var("A"); }\n', "environment A 2"),
    rs(
        "in a macro",
        'use std::env;\nfn f() { println!("{:?} {}", env::var("A"), x.y(option_env!("B"))); }\n',
        "environment A 2",
        "environment B 2",
    ),
    rs(
        "when compiled",
        'const A: &str = env!("A");\nconst B: Option<&str> = option_env!("B");\n',
        "environment A 1",
        "environment B 2",
    ),
    rs(
        "a constant's name",
        'const K: &str = "API_KEY";\nfn f() { let k = r#"B"#; std::env::var(K); std::env::var(&k); }\n',
        "environment API_KEY 2",
        "environment B 2",
    ),
    rs("a function in a name", 'fn f() { let get = std::env::var; get("A"); }\n', "environment A 1"),
    rs(
        "an unknown key",
        "fn f(k: &str) { std::env::var(k); ks.map(std::env::var); }\n",
        "opaque std::env::var 1",
        "opaque std::env::var 1",
    ),
    rs(
        "whole and written",
        'fn f() { std::env::vars().count(); std::env::set_var("A", "1"); }\n',
        "env_escape std::env::vars 1",
        "env_write A 1",
    ),
    rs(
        "an option's variable",
        '#[derive(Debug)]\nstruct S {\n    #[arg(long, env = "TOKEN")]\n    t: String,\n}\n',
        "environment TOKEN 3",
    ),
    rs(
        "programs and the network",
        'use std::process::Command;\nuse std::net::TcpStream;\nfn f() { Command::new("curl"); TcpStream::connect(a); }\n',
        "shell curl 3",
        "socket std::net::TcpStream::connect 3",
    ),
    rs("foreign functions", 'extern "C" {\n    fn getenv(k: *const u8) -> *const u8;\n}\n', 'native extern "C" 1'),
    rs("no Rust at all", "fn f( {{\n", "parse_error core/new.rs 1"),
    # look-alikes
    rs(
        "the standard library",
        "use std::{collections::HashMap, fmt};\nuse core::mem;\nfn f() -> alloc::string::String { std::mem::take(x) }\n",
    ),
    rs(
        "the crate itself",
        "use crate::ledger::Row;\nuse super::*;\nuse self::inner::x;\nmod inner;\nfn f() { inner::y(); Self::z(); shop_core::h(); shop_util::u(); ledger::g(); }\n",
    ),
    rs(
        "the list",
        "use serde_json::{json, Value};\nuse tokio::sync::mpsc;\nfn f() { serde_json::from_str::<Value>(s); mpsc::channel(1); }\n",
    ),
    rs(
        "types and variants",
        "enum E { A }\nuse E::*;\nfn f<T: Default>() { E::A; T::default(); Vec::<u8>::new(); String::from(x); u32::MAX; str::from_utf8(b); i64::from(1) }\n",
    ),
    rs(
        "another env",
        'mod env { pub fn var(k: &str) {} }\nfn f() { env::var("A"); self::env::var("B"); }\nfn var(k: &str) {}\nfn g() { var("C"); }\n',
    ),
    rs(
        "only words",
        '// use redis; std::env::var("A")\n/* a /* nested */ use redis; */\n/// use redis;\nconst S: &str = "std::env::var(A)";\nconst T: &str = r#"use redis; "std::env::var""#;\n',
    ),
    rs("what Cargo sets", 'const V: &str = env!("CARGO_PKG_VERSION");\nconst D: &str = env!("OUT_DIR");\n'),
    rs(
        "other functions of the module", "use std::env;\nfn f() { env::args(); env::current_dir(); env::temp_dir(); }\n"
    ),
    rs("another command", "struct Command;\nimpl Command { fn new(s: &str) {} }\nfn f() { Command::new(x); }\n"),
    rs("an allowed key", 'fn f() { std::env::var("RETRY_LIMIT"); }\n'),
    rs(
        "an attribute of the name",
        '#[cfg(test)]\n#[serde(rename = "x")]\n#[allow(clippy::all)]\n#[rustfmt::skip]\nstruct S;\n',
    ),
    rs("a name from an imported module", "use std::io;\nfn f() -> io::Result<()> { io::stdin(); Ok(()) }\n"),
    rs(
        "already there",
        'use serde::Serialize;\nuse rand::thread_rng;\nuse anyhow::Result;\nfn f() { std::env::var("HOME"); }\n',
        "note import serde 1",
        "note import rand 2",
        "note import anyhow 3",
        "note environment HOME 4",
    ),
]

JAVA = [
    java("a queue that nobody named", "import redis.clients.jedis.Jedis;\n", "import redis.clients.jedis.Jedis 2"),
    java("all of a package", "import redis.clients.jedis.*;\n", "import redis.clients.jedis 2"),
    java(
        "static",
        "import static org.mockito.Mockito.mock;\nimport static org.assertj.core.api.Assertions.*;\n",
        "import org.mockito.Mockito 2",
        "import org.assertj.core.api.Assertions 3",
    ),
    java(
        "written out",
        "class N extends org.acme.Base {\n  io.vavr.List<String> x = com.acme.Json.parse(y);\n  @org.acme.Note void f() {}\n}\n",
        "import org.acme.Base 2",
        "import io.vavr.List 3",
        "import com.acme.Json 3",
        "import org.acme.Note 4",
    ),
    java(
        "not of the JDK",
        "import javax.inject.Inject;\nimport java.util.json.Json;\n",
        "import javax.inject.Inject 2",
        "import java.util.json.Json 3",
    ),
    java("no JDK", "import java.util.List;\n", "import java.util.List 2", allow=STRICT),
    java("a type that isn't there", "import com.shop.Ghost;\n", "import com.shop.Ghost 2"),
    java(
        "beside what is allowed",
        "import com.fasterxml.jackson.core.JsonParser;\n",
        "import com.fasterxml.jackson.core.JsonParser 2",
    ),
    java(
        "by name",
        'class N { void f(String n) throws Exception {\n  Class.forName("com.mysql.Driver");\n  Class.forName(n);\n} }\n',
        "import com.mysql.Driver 3",
        "dynamic_import java.lang.Class.forName 4",
    ),
    java(
        "a key",
        'class N {\n  String a = System.getenv("A");\n  String b = java.lang.System.getenv("B");\n}\n',
        "environment A 3",
        "environment B 4",
    ),
    java(
        "by a static import",
        'import static java.lang.System.getenv;\nclass N { String a = getenv("A"); }\n',
        "environment A 3",
    ),
    java(
        "of the whole",
        'class N { void f() {\n  System.getenv().get("A");\n  System.getenv().getOrDefault("B", "");\n  for (String k : System.getenv().keySet()) {}\n  g(System.getenv());\n} }\n',
        "environment A 3",
        "environment B 4",
        "env_escape java.lang.System.getenv 5",
        "env_escape java.lang.System.getenv 6",
    ),
    java(
        "in a name",
        'class N { void f() {\n  var env = System.getenv();\n  env.get("A");\n  g(env);\n} }\n',
        "environment A 4",
        "env_escape java.lang.System.getenv 5",
    ),
    java(
        "a constant's name",
        'class N {\n  static final String P = "API";\n  static final String K = P + "_KEY";\n  String a = System.getenv(K);\n}\n',
        "environment API_KEY 5",
    ),
    java(
        "unknown",
        "class N { Object f(String k) {\n  g(System::getenv);\n  return System.getenv(k);\n} }\n",
        "opaque java.lang.System.getenv 3",
        "opaque java.lang.System.getenv 4",
    ),
    java(
        "with escapes",
        'class N { String a = \\u0053ystem.getenv("\\u0041"); }\n// \\u000a class M { String b = System.getenv("B"); }\n',
        "environment A 2",
        "environment B 3",
    ),
    java(
        "programs",
        'class N { void f(String[] c) throws Exception {\n  new ProcessBuilder("curl", "x").start();\n  Runtime.getRuntime().exec("ls -l");\n  Runtime r = Runtime.getRuntime();\n  r.exec(new String[] {"git"});\n  new ProcessBuilder(c);\n} }\n',
        "shell curl 3",
        "shell ls 4",
        "shell git 6",
        "shell java.lang.ProcessBuilder 7",
    ),
    java(
        "the network",
        "import java.net.*;\nclass N { void f() throws Exception { new Socket(h, 1); new java.net.ServerSocket(2); } }\n",
        "socket java.net.Socket 3",
        "socket java.net.ServerSocket 3",
    ),
    java("a C library", 'class N { static { System.loadLibrary("x"); } }\n', "native java.lang.System.loadLibrary 2"),
    java("no Java at all", "class N { void f( {{\n", "parse_error java/com/shop/New.java 1"),
    # look-alikes
    java(
        "the JDK",
        "import java.util.*;\nimport java.util.Map.Entry;\nimport javax.crypto.Cipher;\nimport static java.util.stream.Collectors.toList;\nimport org.w3c.dom.Node;\n",
    ),
    java(
        "the list",
        "import org.junit.Test;\nimport static org.junit.Assert.*;\nimport com.fasterxml.jackson.databind.ObjectMapper;\n",
    ),
    java(
        "the tree itself",
        "import com.shop.Clock;\nimport com.shop.*;\nclass N { com.shop.Ledger l; java.util.List<String> x = java.util.List.of(); }\n",
    ),
    java(
        "another System",
        'class System { static String getenv(String k) { return k; } }\nclass N { String a = System.getenv("A"); }\n',
    ),
    java(
        "another getenv",
        'class N { String getenv(String k) { return k; }\n  String a = getenv("A");\n  String b = cfg.getenv("B");\n}\n',
    ),
    java("properties", 'class N { String a = System.getProperty("user.home"); long t = System.nanoTime(); }\n'),
    java(
        "only words",
        '// import redis.Jedis; System.getenv("A")\n/* import x.y.Z; */\n/** {@link org.acme.X} */\nclass N { String s = "System.getenv(A) import redis.Jedis;"; }\n',
    ),
    java("fields of fields", "class N { N next; int Max; Object f(N node) { return node.next.next.Max; } }\n"),
    java("another map", 'class N { String f(java.util.Map<String, String> env) { return env.get("A"); } }\n'),
    java("an allowed key", 'class N { String a = System.getenv("RETRY_LIMIT"); }\n'),
    java(
        "another exec",
        'class N { void f(Executor pool) { pool.exec("ls"); x.load("y"); new Socket(); } class Socket {} }\n',
    ),
    java(
        "already there",
        'import org.slf4j.LoggerFactory;\nimport com.google.gson.Gson;\nclass N { String h = System.getenv("HOME"); }\n',
        "note import org.slf4j.LoggerFactory 2",
        "note import com.google.gson.Gson 3",
        "note environment HOME 4",
    ),
]

CASES = {"JavaScript": JAVASCRIPT, "TypeScript": TYPESCRIPT, "Go": GO, "Rust": RUST, "Java": JAVA}

MISSES = {
    "JavaScript": [
        js("keys in an array", "['A', 'B'].map((k) => process.env[k]);\n", "environment A 1", "environment B 1"),
        js("a member of a constant", "const K = { A: 'API_KEY' };\nprocess.env[K.A];\n", "environment API_KEY 2"),
        js(
            "kept in another file",
            "import { e } from './other';\ne.A;\n",
            "environment A 2",
            src__other_dot_js="export { env as e } from 'process';\n",
        ),
        js("modules by define", "define(['redis'], (r) => r);\n", "import redis 1"),
        js("code in a constant", "eval('require(\"redis\")');\n", "exec eval 1", "import redis 1"),
    ],
    "TypeScript": [
        ts("a triple slash", '/// <reference types="redis" />\n', "import redis 1"),
    ],
    "Go": [
        Case(
            "a constant of the package",
            'package store\nimport "os"\nvar a = os.Getenv(Key)\n',
            ("environment A 3",),
            "store/new.go",
            ALLOW,
            {"store/key.go": 'package store\nconst Key = "A"\n'},
        ),
        go("a tag of a structure", 'type C struct {\n\tA string `env:"A"`\n}\n', "environment A 3"),
    ],
    "Rust": [
        rs(
            "another module's constant",
            'mod k { pub const A: &str = "A"; }\nfn f() { std::env::var(k::A); }\n',
            "environment A 2",
        ),
        rs(
            "an option named like its field",
            "struct S {\n    #[arg(env)]\n    token: String,\n}\n",
            "environment TOKEN 2",
        ),
        rs("another file's text", 'include!("../far.rs");\n', "exec include! 1"),
    ],
    "Java": [
        java("a framework's value", 'class N { @Value("${API_KEY}") String a; }\n', "environment API_KEY 2"),
        java(
            "another class's constant",
            'class K { static final String A = "A"; }\nclass N { String a = System.getenv(K.A); }\n',
            "environment A 3",
        ),
        java(
            "a started program's environment",
            "class N { Object f(ProcessBuilder b) { return b.environment(); } }\n",
            "env_escape java.lang.ProcessBuilder.environment 2",
        ),
    ],
}
"""What a person sees and the ledger doesn't, or only as `opaque`: every known kind of it."""
