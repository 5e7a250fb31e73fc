"""What looks like a key, a token or a password is in no file that is written; what doesn't is left as it was."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from stages.ingest.secrets import clean
from tests.support.logs import both, judged

SECRETS = [
    ("OPENAI_API_KEY=zzTOPaaaa11112222", "zzTOPaaaa"),
    ("AWS_SECRET_ACCESS_KEY: wJalrXUtnFEMI/K7MDENGbPxRfi", "wJalrXUtn"),
    ("https://x.example/?access_token=abcd1234efgh", "abcd1234"),
    ("https://x.example/?X-Amz-Signature=0a1b2c3d4e5f6071", "0a1b2c3d"),
    ("https://x.example/?sv=1&sig=AAAAAbbbbb12345%2B&se=2026", "AAAAAbbbbb"),
    ("https://someone:p%40ss@x.example/x.git", "p%40ss"),
    ("postgres://u:hunter22@db/x", "hunter22"),
    ("npm_abcdefghijklmnop1234567890ABCDEFGHIJ", "npm_abc"),
    ("dckr_pat_abcdefghij1234567890ab", "dckr_pat_abc"),
    ("pypi-AgEIcHlwaS5vcmcCJDU0", "pypi-AgEI"),
    ("x-goog-api-key: AbCd-12345678", "AbCd-1234"),
    ("Proxy-Authorization: Basic dXNlcjpwYXNz", "dXNlcjpw"),
    ("Authorization: token 1234567890abcdef1234", "1234567890abc"),
    ("Cookie: sid=abc123; csrf=xyz789abc", "xyz789abc"),
    ('{"client_secret": "hunter2hunter2"}', "hunter2"),
    ("DB_PASSWORD=hunter22", "hunter22"),
    ("session_id=deadbeefdeadbeef", "deadbeef"),
    ("xoxe-1-abcdefghijk123456", "xoxe-1-abc"),
    ("hf_abcdefghijklmnopqrst", "hf_abcdef"),
    ("r8_abcdefghijklmnopqrstuv", "r8_abcdef"),
    ("sk-ant-api03-AbCdEfGhIjKlMnOp", "sk-ant"),
    ("SG.abcdefghijklmnopqrstuv.abcdefghijklmnopqrstuvwxyz", "SG.abc"),
    ("-----BEGIN RSA PRIVATE KEY----- MIIEabcdef", "MIIEabc"),
]
ADDED = """\
diff --git a/a.py b/a.py
new file mode 100644
--- /dev/null
+++ b/a.py
@@ -0,0 +1,4 @@
+import os, subprocess
+subprocess.run(["fetch", {0!r}])
+os.environ[{0!r}]
+__import__({0!r})
"""


def test_no_file_of_a_study_holds_a_secret_of_its_log(tmp_path: Path) -> None:
    (tmp_path / "allow.yaml").write_text("allow: {imports: [], env: [], files_write: [b.py]}\n")
    rows = both([(1, 0)] * len(SECRETS))
    for at, one in enumerate(rows):
        text = SECRETS[at // 2][0]
        one |= dict.fromkeys(("abort_reason", "server_id", "served_by", "requested_model"), text)
        one["patch"] = ADDED.format(text)
    judged(tmp_path, rows, allow=str(tmp_path / "allow.yaml"))
    for path in (tmp_path / "out").rglob("*"):
        if path.is_file():
            held = str(pq.read_table(path).to_pylist()) if path.suffix == ".parquet" else path.read_text()
            assert [secret for _, secret in SECRETS if secret in held] == [], path


def test_a_secret_that_a_limit_would_halve_is_cut_whole(tmp_path: Path) -> None:
    judged(tmp_path, both([(1, 0)] * 2, abort_reason="x" * 480 + " https://someone:hunter22hunter22@x.example/"))
    assert "hunter" not in str(pq.read_table(tmp_path / "out/data/trials/trials.parquet").to_pylist())


@pytest.mark.parametrize(
    "text",
    [
        *("skimage.transform.resize", "pkg_resources.extern.packaging", "hf_hub_download_something", "http.cookies"),
        *("max_tokens=4096 temperature=0", "tokenizer=BertTokenizer", "secrets.token_hex", "API_TOKEN", "npm_config_a"),
        *("skipping everything that follows", "stop_token_ids=None", "host-1.eu-west", "https://x.example/a@b"),
    ],
)
def test_names_and_settings_are_no_secrets(text: str) -> None:
    assert clean(text) == text
