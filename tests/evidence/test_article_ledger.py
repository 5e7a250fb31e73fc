"""The assumption-ledger article's object: right where its own scorer is right, and where a dotted allow list trips it."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from stages.contract.errors import InputError, WeighbridgeError
from stages.evidence.article_ledger import ledger_object

# the article's example task: the same fields and values
TASK = """\
id: payments-retry
rev: v1.4.0
prompt_sha256: 9f3c88a1b0d2e4f6a8c0
interface:
  module: billing.retry
  function: schedule_retry
  signature: "(payment_id: str, attempt: int) -> RetryPlan"
allow:
  imports: ["datetime", "billing.types"]
  env: []
  files_write: ["billing/retry.py"]
oracle:
  test_path: tests/oracle/test_payments_retry.py
  hidden: true
mutation_budget:
  rename_identifiers: true
  reword_prompt: false
"""
BODY = (
    "\n\ndef schedule_retry(payment_id: str, attempt: int) -> RetryPlan:\n    return RetryPlan(payment_id, attempt)\n"
)


def judged(folder: Path, source: str, task: str = TASK, name: str = "billing/retry.py") -> dict[str, Any]:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(source, encoding="utf-8")
    (folder / "task.yaml").write_text(task, encoding="utf-8")
    return ledger_object(folder / "task.yaml", path)


def as_diff(source: str, path: str = "billing/retry.py") -> str:
    lines = source.splitlines()
    return f"--- /dev/null\n+++ b/{path}\n@@ -0,0 +1,{len(lines)} @@\n" + "".join(f"+{line}\n" for line in lines)


# source, imports, environment: counted by hand. The article's scorer says the same but where a comment tells.
CASES = {
    "what the list has": ("import datetime\n", [], []),
    "from what the list has": ("from datetime import timedelta\n", [], []),
    "a dotted entry": ("from billing.types import RetryPlan\n", [], []),  # there: billing.types is invented
    "a dotted entry, imported whole": ("import billing.types\n", [], []),  # there: invented
    "a neighbour of a dotted entry": ("from billing.db import rows\n", ["billing.db"], []),
    "a queue": ("import redis\n", ["redis"], []),
    "from a queue": ("from redis.client import Redis\n", ["redis.client"], []),
    "the environment": ('import os\nKEY = os.environ["API_KEY"]\n', ["os"], ["API_KEY"]),
    "the environment by get": ('import os\nKEY = os.environ.get("API_KEY")\n', ["os"], ["API_KEY"]),  # there: unseen
    "the environment by getenv": ('import os\nKEY = os.getenv("API_KEY")\n', ["os"], ["API_KEY"]),  # there: unseen
    "the environment alone": ('from os import environ\nKEY = environ["A"]\n', ["os"], ["A"]),  # there: unseen
    "two on one line": ("import redis, celery\n", ["celery", "redis"], []),
    "a future": ("from __future__ import annotations\n", [], []),  # there: invented
    "the tree's own": ("from .types import RetryPlan\n", [], []),  # there: types is invented
    "all of it": (
        'import datetime\nimport os\nimport redis\nfrom billing.types import RetryPlan\nKEY = os.environ["K"]\n',
        ["os", "redis"],
        ["K"],
    ),
}


@pytest.mark.parametrize(("source", "imports", "env"), CASES.values(), ids=CASES)
def test_the_articles_task_finds_what_a_reader_finds(
    tmp_path: Path, source: str, imports: list[str], env: list[str]
) -> None:
    said = judged(tmp_path, source + BODY)
    assert list(said)[:9] == [
        *("task_id", "rev", "prompt_sha256", "patch_sha256", "oracle_pass", "assumption_violations"),
        *("assumption_per_kloc", "invented_imports", "invented_env"),
    ]
    lines = (source + BODY).count("\n")
    count = len(imports) + len(env)
    assert (sorted(said["invented_imports"]), said["invented_env"]) == (imports, env)
    assert said["assumption_violations"] == count
    assert said["assumption_per_kloc"] == pytest.approx(1000 * count / lines, rel=1e-5)
    assert (said["task_id"], said["rev"], said["prompt_sha256"]) == ("payments-retry", "v1.4.0", "9f3c88a1b0d2e4f6a8c0")
    assert said["patch_sha256"] == sha256((source + BODY).encode()).hexdigest()
    json.dumps(said, allow_nan=False)
    # the same as a diff
    diff = judged(tmp_path, as_diff(source + BODY), name="p.diff")
    for key in ("assumption_violations", "assumption_per_kloc", "invented_imports", "invented_env"):
        assert diff[key] == said[key]
    assert diff["extended"]["unauthorised_files"] == []


def test_what_isnt_known_is_null_and_says_why(tmp_path: Path) -> None:
    said = judged(tmp_path, "import datetime\n" + BODY)
    assert said["oracle_pass"] is None
    assert said["extended"]["oracle_pass_why"]
    assert said["extended"]["unauthorised_files"] is None
    assert said["extended"]["unauthorised_files_why"]
    known = ledger_object(tmp_path / "task.yaml", tmp_path / "billing/retry.py", oracle_pass=True)
    assert known["oracle_pass"] == 1
    assert "oracle_pass_why" not in known["extended"]


def test_a_write_outside_of_the_list_counts_in_a_diff(tmp_path: Path) -> None:
    both = as_diff("x = 1\n") + as_diff("import redis\n", "billing/queue.py")
    said = judged(tmp_path, both, name="p.patch")
    assert said["extended"]["unauthorised_files"] == ["billing/queue.py"]
    assert said["assumption_violations"] == 2
    assert said["assumption_per_kloc"] == 1000.0
    assert not said["extended"]["machinery_only"]


def test_a_renamed_parameter_is_drift_of_the_pinned_signature(tmp_path: Path) -> None:
    assert judged(tmp_path, BODY)["extended"]["interface_drift"] == 0
    said = judged(tmp_path, BODY.replace("attempt", "tries"))
    assert said["extended"]["interface_drift"] >= 1
    assert said["assumption_violations"] == 0
    assert judged(tmp_path, as_diff(BODY), name="p.diff")["extended"]["interface_drift"] is None


def test_a_file_that_is_no_python_is_said_to_be_unread(tmp_path: Path) -> None:
    said = judged(tmp_path, "def f(:\n")
    assert said["assumption_violations"] == 0
    assert said["extended"]["parse_errors"] == 1


def test_an_empty_patch_has_no_rate(tmp_path: Path) -> None:
    for name in ("billing/retry.py", "p.diff"):
        said = judged(tmp_path, "", name=name)
        assert (said["assumption_violations"], said["assumption_per_kloc"]) == (0, None)


def test_a_task_may_be_json(tmp_path: Path) -> None:
    task = {"id": "t", "rev": "1", "prompt_sha256": "ab", "allow": {"imports": [], "env": ["K"]}}
    (tmp_path / "t.json").write_text(json.dumps(task), encoding="utf-8")
    (tmp_path / "a.py").write_text('import os\nos.environ["K"]\n', encoding="utf-8")
    said = ledger_object(tmp_path / "t.json", tmp_path / "a.py")
    assert (said["invented_imports"], said["invented_env"]) == (["os"], [])


BAD_TASKS = {
    "empty": "",
    "a list": "[]\n",
    "no id": TASK.replace("id: payments-retry\n", ""),
    "no rev": TASK.replace("rev: v1.4.0\n", ""),
    "a rev that is a number": TASK.replace("rev: v1.4.0", "rev: 1.4"),
    "a hash that is a number": TASK.replace("9f3c88a1b0d2e4f6a8c0", "12345"),
    "no allow": TASK.replace("allow:", "allowed:"),
    "imports as text": TASK.replace('["datetime", "billing.types"]', "datetime"),
    "imports of numbers": TASK.replace('["datetime", "billing.types"]', "[1]"),
    "no env": TASK.replace("  env: []\n", ""),
    "stdlib as text": TASK.replace("  env: []\n", "  env: []\n  stdlib: maybe\n"),
    "a pattern that leads out": TASK.replace('["billing/retry.py"]', '["../x"]'),
    "interface as text": TASK.replace("interface:", "interface: x\nother:"),
    "a module of two lines": TASK.replace("billing.retry", '"billing\\nretry"'),
    "a module that is a path": TASK.replace("billing.retry", "../billing"),
    "a signature that is none": TASK.replace("-> RetryPlan", "->"),
    "a tag": TASK.replace("id: payments-retry", "id: !!python/name:os.system x"),
    "an alias": TASK.replace("env: []", "env: &a []"),
}


@pytest.mark.parametrize("task", BAD_TASKS.values(), ids=BAD_TASKS)
def test_a_task_that_is_none_is_refused_in_one_line(tmp_path: Path, task: str) -> None:
    with pytest.raises(InputError) as caught:
        judged(tmp_path, BODY, task)
    assert caught.value.exit_code == 2
    assert "\n" not in str(caught.value)


def test_patches_that_are_none_are_refused(tmp_path: Path) -> None:
    for name, text in (("p.diff", "hello\n"), ("p.txt", "import os\n"), ("q.diff", as_diff("x\n", "../a.py"))):
        with pytest.raises(InputError):
            judged(tmp_path, text, name=name)
    for path in (tmp_path, tmp_path / "none"):
        with pytest.raises(WeighbridgeError):
            ledger_object(tmp_path / "task.yaml", path)
