"""A campaign whose agents call a provider: what each of its faults does to the trial that it hits, and to no other."""

from __future__ import annotations

import hashlib
import json
import shutil
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
import yaml

from stages.arms.trial import trial_seed
from stages.contract import layout, parquet, tables
from stages.contract.study import read_plan
from tests.support.bundles import verifies
from tests.support.mini import PIPELINE, make_study, stage, write
from tests.support.provider import chat, scripted
from tests.support.sessions import FAULTS, MODELS, make_session_study, provider

pytest.importorskip("aiohttp", reason="the extra `proxy` isn't installed")

KEY = "sk-marked-key-1234567890"
SERVER = "openai:127.0.0.1:*"
Key = tuple[str, str, int]


def rows(root: Path, place: Path, schema: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = parquet.read(root / place, schema).to_pylist()
    return found


class Campaign:
    """A campaign of `items` items, two repeats of each in both arms, with a fault for every trial by turns."""

    def __init__(self, root: Path, items: int, **protocol: Any) -> None:
        self.root, self.faults = root, dict[str, str]()
        with scripted(provider(self.faults)) as server:
            # One request tells the server's name, which the envelope then holds exactly.
            make_session_study(root, server.url, own_name(server.url), items, **protocol)
            stage(root, "freeze", "preflight")
            plan = read_plan(root)
            self.expected: dict[Key, str] = {}
            turns = cycle(FAULTS)
            for item in plan.items:
                for repeat in range(plan.trial_budget):
                    for arm in MODELS:
                        seed = trial_seed(getattr(plan.arms, arm), item.item_id, repeat)
                        self.expected[item.item_id, arm, repeat] = self.faults[str(seed)] = next(turns)
            assert len(self.faults) == len(self.expected)
            done = stage(root, "run", env={"A_KEY": KEY})
            self.said = done.stdout + done.stderr
            self.seen = list(server.seen)
        stage(root, *PIPELINE[3:])
        self.trials = {self.key(row): row for row in rows(root, layout.TRIALS, tables.TRIALS)}
        self.exclusions = rows(root, layout.EXCLUSIONS, tables.EXCLUSIONS)
        self.decision = verifies(root)

    @staticmethod
    def key(row: dict[str, Any]) -> Key:
        return row["item_id"], row["arm"], row["repeat"]


def own_name(url: str) -> str:
    """The server id that a recorder gives the scripted provider while it says that it is `here`."""
    from datetime import UTC, datetime

    from stages.session.dialects import read_call
    from stages.session.exchange import Exchange

    made = Exchange(
        datetime.now(UTC), "POST", f"{url}/chat/completions", [], b"{}", 200, [("server", "here")], [(1.0, b"{}")]
    )
    found = read_call(made, 1, provider="openai").server_id
    assert found is not None
    return found


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Campaign:
    return Campaign(tmp_path_factory.mktemp("sessions") / "study", 8)


def excluded(campaign: Campaign) -> dict[Key, str]:
    return {
        Campaign.key(row): row["rule"] for row in campaign.exclusions if row["scope"] == "trial" and row["accepted"]
    }


def check_faults(campaign: Campaign) -> None:
    """Exactly the trials with a fault outside of the envelope are excluded, each by its rule; all ended as they must."""
    wanted = {key: rule for key, fault in campaign.expected.items() if (rule := FAULTS[fault][0])}
    assert excluded(campaign) == wanted
    ended = {key: row["ended"] for key, row in campaign.trials.items()}
    assert ended == {key: FAULTS[fault][1] for key, fault in campaign.expected.items()}
    counts = campaign.decision["counts"]
    assert counts["planned"] == len(campaign.expected) == counts["scored"] + counts["excluded"] + counts["missing"]
    assert counts["missing"] == 0


def test_each_fault_excludes_its_trial_by_its_rule_and_no_other(campaign: Campaign) -> None:
    check_faults(campaign)


def test_a_provider_that_ended_an_agent_is_told_from_an_agent_that_gave_up(campaign: Campaign) -> None:
    reasons = {fault: campaign.trials[key]["reason"] or "" for key, fault in campaign.expected.items()}
    assert reasons["always_503"].startswith("provider error: HTTP 503 server_error")
    assert reasons["no_quota"].startswith("provider error: HTTP 429 insufficient_quota")
    assert reasons["error_in_200"].startswith("provider error: HTTP 200 internal (error_in_200)")
    assert "empty_200" in reasons["empty_200"]
    gave_up = next(key for key, fault in campaign.expected.items() if fault == "bad_request")
    assert (campaign.trials[gave_up]["ended"], campaign.trials[gave_up]["exit_code"]) == ("completed", 1)


def test_every_call_is_kept_with_its_trial(campaign: Campaign) -> None:
    calls = rows(campaign.root, layout.CALLS, tables.CALLS)
    by_trial: dict[Key, list[dict[str, Any]]] = {}
    for row in calls:
        by_trial.setdefault(Campaign.key(row), []).append(json.loads(row["record"]))
    assert by_trial.keys() == campaign.trials.keys()
    assert len(calls) == len(campaign.seen)
    for key, fault in campaign.expected.items():
        mine = by_trial[key]
        assert {call["requested"]["model"][0] for call in mine} == {MODELS[key[1]]}, "nobody's calls are another's"
        assert [call["number"] for call in mine] == list(range(1, len(mine) + 1))
        if fault == "two_500":
            assert [call["retry"]["repeated_body_count"] for call in mine] == [0, 0, 1, 2, 0]
            assert [call["retry"]["sdk_count"] for call in mine] == [0, 0, 1, 2, 0]


def test_no_key_and_no_prompt_is_in_any_file_or_line(campaign: Campaign) -> None:
    asked = {text["content"] for _, body in campaign.seen for text in body["messages"]}
    assert any("it should give the sum" in text for text in asked), "the prompt did go to the provider"
    assert {headers.get("Authorization") for headers, _ in campaign.seen} == {f"Bearer {KEY}"}
    marks = [KEY.encode(), b'go on"', b"weighbridge-recorder-holds"]
    for path in [p for p in campaign.root.rglob("*") if p.is_file()]:
        data = path.read_bytes()
        assert not [mark for mark in marks if mark in data and path.name != "agent.py"], path
    for table in (layout.CALLS, layout.STAMPS, layout.TRANSCRIPTS, layout.TRIALS):
        text = str(parquet.read(campaign.root / table, tables.ALL[table.stem]).to_pylist())
        assert not [mark for mark in ("sk-marked", "it should give the sum") if mark in text], table
    assert KEY not in campaign.said


@pytest.mark.heavy
def test_two_hundred_trials_lose_exactly_those_that_a_fault_hit(tmp_path: Path) -> None:
    made = Campaign(tmp_path / "study", 50)
    assert len(made.expected) == 200
    check_faults(made)
    counts = made.decision["counts"]
    print(f"\n{counts}: {sorted(set(excluded(made).values()))}")


@pytest.mark.heavy
def test_an_excluded_trial_is_replaced_by_what_its_stamps_say_and_no_more_often_than_agreed(tmp_path: Path) -> None:
    made = Campaign(tmp_path / "study", 4, replace_excluded=1)
    replaced = rows(made.root, layout.REPLACED, tables.REPLACED)
    assert {Campaign.key(row): row["rule"] for row in replaced} == {
        key: rule for key, fault in made.expected.items() if (rule := FAULTS[fault][0])
    }
    assert made.decision["counts"]["replaced"] == len(replaced)
    # The provider counts a trial's turns on: what failed at its first turns doesn't in the second run.
    assert {made.expected[key] for key in excluded(made)} <= {"always_503", "no_quota", "other_model", "foreign",
                                                             "model_switch", "fingerprint"}  # fmt: skip
    assert all(row["replaced"] == (Campaign.key(row) in {Campaign.key(r) for r in replaced})
               for row in made.trials.values())  # fmt: skip
    noted = [row for row in made.exclusions if row["scope"] == "replaced"]
    assert len(noted) == len(replaced)
    assert all(row["accepted"] for row in noted)
    again = stage(made.root, "run", env={"A_KEY": KEY})
    assert rows(made.root, layout.REPLACED, tables.REPLACED) == replaced, again.stdout


def test_a_trial_that_was_replaced_without_a_broken_limit_is_called_so(campaign: Campaign, tmp_path: Path) -> None:
    root = tmp_path / "study"
    shutil.copytree(campaign.root, root)
    row = next(r for r in rows(root, layout.LEDGER, tables.LEDGER) if campaign.expected[Campaign.key(r)] == "none")
    forged = {name: row[name] for name in ("item_id", "arm", "repeat", "started_at", "ended", "attempts")}
    forged |= {"patch_sha256": row["patch_sha256"], "stamps": row["stamps"]}
    forged |= {"number": 1, "rule": "queue_delay", "found": "x"}
    (root / layout.REPLACED).unlink()
    parquet.write(root / layout.REPLACED, parquet.table(tables.REPLACED, [forged]))
    stage(root, "exclude", "report")
    decision = json.loads((root / layout.DECISION).read_text())
    assert "posthoc_exclusion" in decision["reasons"]
    assert "its stamps are inside the envelope" in decision["reason_details"]["posthoc_exclusion"]


@pytest.mark.heavy
def test_a_cost_that_is_reached_stops_the_campaign_and_a_higher_one_goes_on(tmp_path: Path) -> None:
    root = tmp_path / "study"

    async def priced(_: Any, body: dict[str, Any]) -> Any:
        usage = {"prompt_tokens": 10, "completion_tokens": 1, "total_tokens": 11, "cost": 0.01}
        return chat(body["model"], "solve", usage=usage)

    with scripted(priced) as server:
        make_session_study(root, server.url, "*", 2, "openrouter")
        words = yaml.safe_load((root / "params.yaml").read_text())
        for most, least, limit in ((0.1, 3, 6), (None, 8, 8)):  # three calls a trial, two trials at a time
            words["run"]["max_cost"] = most
            write(root / "params.yaml", yaml.safe_dump(words))
            if most:
                stage(root, "freeze", "preflight")
            said = stage(root, "run", env={"A_KEY": KEY}).stderr
            assert least <= len(rows(root, layout.TRIALS, tables.TRIALS)) <= limit, said
            assert ("run.max_cost 0.1 is reached" in said) is (most is not None), said
    assert len(server.seen) == 24


def test_without_its_key_no_trial_starts(tmp_path: Path) -> None:
    root = tmp_path / "study"
    make_session_study(root, "http://127.0.0.1:9/v1", "*", 2)
    stage(root, "freeze", "preflight")
    done = stage(root, "run", env={"A_KEY": ""}, check=False)
    assert done.returncode == 2
    assert "arms.candidate.session.key_env: A_KEY isn't set" in done.stderr
    assert not (root / layout.TRIALS).exists()


def test_a_single_trial_is_recorded_too_and_says_where_it_lies(tmp_path: Path) -> None:
    root = tmp_path / "study"
    with scripted(provider({})) as server:
        make_session_study(root, server.url, own_name(server.url), 2)
        stage(root, "freeze")
        done = stage(root, "trial item-0 candidate 0", env={"A_KEY": KEY})
    assert "3 calls recorded, inside the envelope" in done.stdout + done.stderr


def test_what_an_agent_prints_of_its_variables_is_cut_out_of_its_transcript(tmp_path: Path) -> None:
    root = make_study(tmp_path / "study", 1, placebos=0)
    words = yaml.safe_load((root / "params.yaml").read_text())
    words["arms"]["candidate"] |= {"env": ["A_TOKEN", "SHORT"], "variables": {"FIXED": "{workspace}/x {temperature}"}}
    words["arms"]["candidate"]["command"] = ["sh", "-c", "echo $A_TOKEN $SHORT $FIXED $HOME; env >&2"]
    write(root / "params.yaml", yaml.safe_dump(words))
    stage(root, "freeze", "preflight")
    stage(root, "run", env={"A_TOKEN": "marked-token-123", "SHORT": "abc"})
    said = {row["stream"]: row["content"] for row in rows(root, layout.TRANSCRIPTS, tables.TRANSCRIPTS)
            if row["arm"] == "candidate"}  # fmt: skip
    assert said["stdout"] == b"[A_TOKEN] abc /ws/x 0 /home/agent\n"
    assert b"marked-token" not in said["stderr"]


def test_terms_of_access_are_read_by_digest_or_not_at_all() -> None:
    from aiohttp import web

    from stages.contract.errors import InputError
    from stages.session.recorder import read_terms

    async def page(request: Any, _: dict[str, Any]) -> Any:
        return web.Response(text="be good") if request.path.endswith("terms") else web.Response(status=404)

    with scripted(page) as server:
        terms = read_terms(f"{server.url}/terms")
        with pytest.raises(InputError, match="can't be read"):
            read_terms(f"{server.url}/other")
    assert terms.text_sha256 == hashlib.sha256(b"be good").hexdigest()
    assert terms.source.endswith("/v1/terms")
