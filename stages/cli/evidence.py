"""Evidence that travels: verify, bundle, diff."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from stages.cli.base import AsJson, Here, Study, app, say, show_json
from stages.contract.errors import UsageError, one_line

SignerName = Annotated[
    str, typer.Option("--signer", help="Who must have signed, as the file of allowed signers names them.")
]
Allowed = Annotated[
    Path | None, typer.Option("--allowed-signers", help="OpenSSH's file of allowed signers.", show_default=False)
]


@app.command(epilog="Example: weighbridge verify study.zip --signer ann@example.org --allowed-signers signers")
def verify(
    path: Annotated[Path, typer.Argument(help="A project, a study's folder, or a bundle.")] = Here,
    deep: Annotated[
        bool,
        typer.Option("--deep", help="Judge every patch anew, isolated, and freeze the pack anew (or read the logs)."),
    ] = False,
    signer: SignerName = "",
    allowed_signers: Allowed = None,
    tsa: Annotated[
        Path | None,
        typer.Option(
            "--tsa", help="Root certificates (PEM) of time-stamping authorities that you trust.", show_default=False
        ),
    ] = None,
    require_publish: Annotated[
        bool, typer.Option("--require-publish", help="Exit 3 where the verified decision is a refusal.")
    ] = False,
    as_json: AsJson = False,
) -> int:
    """Derive the decision again from the same bytes, or say what differs first.

    Exit 0: verified. 1: something differs. 2: it can't be read. 3: a verified refusal, with --require-publish.
    No network, no clock, no DVC and no agent are used.
    """
    from stages.evidence.signing import Signer
    from stages.evidence.verify import verify as check

    if bool(signer) != (allowed_signers is not None):
        raise UsageError("--signer, --allowed-signers", "only one of them", "both, or neither")
    found = check(
        path, deep=deep, tsa=tsa, signer=Signer(signer, allowed_signers) if allowed_signers else None, say=say
    )
    if as_json:
        show_json(
            {
                "result": "differs" if found.differs else "verified",
                "line": found.line(),
                "decision": found.decision and found.decision["decision"],
                "reason": found.decision and found.decision["reason"],
                "signed_by": found.signed_by,
                "checks": [one.as_json() for one in found.checks],
                "left_open": found.left_open,
            }
        )
    else:
        for one in found.checks:
            print(f"{one.name:12} {one.result:12} {one_line(one.note or one.what, 100)}")
            for line in one.differs[1 if one.differs[0] == found.differs else 0 :] if one.differs else ():
                print(f"{'':12} {one_line(line)}")
        for line in found.left_open:
            print(f"not checked: {one_line(line, 400)}")
        print(one_line(found.line(), 600))
    if found.differs:
        return found.exit_code
    return 3 if require_publish and (found.decision or {}).get("decision") != "publish" else 0


@app.command(epilog="Example: weighbridge bundle study.zip --sign ~/.ssh/id_ed25519")
def bundle(
    out: Annotated[Path, typer.Argument(help="The bundle to be written, a .zip file.", metavar="OUT.zip")],
    without_hidden: Annotated[
        bool, typer.Option("--without-hidden", help="Leave oracles and solutions out; their digests stay.")
    ] = False,
    sign: Annotated[
        Path | None, typer.Option("--sign", help="Sign it with this SSH key (ssh-keygen -Y).", show_default=False)
    ] = None,
    licence: Annotated[
        Path | None,
        typer.Option("--licence", help="The licence that goes with it.", show_default="the study's LICENSE"),
    ] = None,
    study: Study = Here,
    as_json: AsJson = False,
) -> None:
    """Write everything that a decision was derived from into one file, which `verify` reads anywhere."""
    from stages.evidence.bundling import bundle as write

    made = write(study, out, without_hidden=without_hidden, key=sign, licence=licence)
    if as_json:
        return show_json(made)
    said = "signed" if made["signed"] else "unsigned"
    print(f"{out}: {made['files']} files, {made['bytes']:,} bytes, sha256 {made['sha256']}, {said}")
    for name in made["without"]:
        print(f"left out: {name}")
    print(f"it gives {made['decision']} ({made['reason']})")
    return None


@app.command(epilog="Example: weighbridge diff before.zip after.zip")
def diff(
    a: Annotated[Path, typer.Argument(help="A decision.json, a study's folder, or a bundle.")],
    b: Annotated[Path, typer.Argument(help="Another one.")],
    as_json: AsJson = False,
) -> int:
    """Say what differs between two decisions: pack, protocol, arms, exclusions, numbers.

    Numbers of different slices are never set side by side. Exit 0: the same. 1: they differ.
    """
    from stages.evidence.differing import diff as compare

    found = compare(a, b)
    if as_json:
        show_json(found.as_json())
        return 0 if found.same else 1
    if not found.same_slice:
        print("different slices: these decisions answer different questions, so their numbers aren't compared")
    for name, rows in found.sections.items():
        print(f"{name}:")
        for key, one, two in rows:
            print(f"  {one_line(key, 120)}: {_short(one)} → {_short(two)}")
    if found.same:
        print("the same decision, of the same slice")
    return 0 if found.same else 1


def _short(value: object) -> str:
    return "none" if value is None else one_line(value, 120)


@app.command(epilog="Example: weighbridge comment > comment.md && gh pr comment --body-file comment.md")
def comment(
    path: Annotated[Path, typer.Argument(help="A project, a study's folder, or a bundle.")] = Here,
    no_verify: Annotated[bool, typer.Option("--no-verify", help="Don't check the bytes first.")] = False,
) -> int:
    """Print the decision as a short Markdown comment, for a bot to post on a pull request.

    It says what `verify` finds, and ends with verify's exit code.
    """
    from stages.evidence.commenting import comment_on

    said, exit_code = comment_on(path, check=not no_verify)
    print(said, end="")
    return exit_code


@app.command(epilog="Example: weighbridge status")
def status(study: Study = Here, as_json: AsJson = False) -> None:
    """Say where a study stands: what is done, what is missing, and what the rest would take."""
    from stages.evidence.status import status as look

    found = look(study)
    if as_json:
        return show_json(found)
    for name, done in found["stages"].items():
        print(f"{name:12} {'done' if done else 'not yet'}")
    trials = found["trials"]
    for side, arm in (trials["arms"] if trials else {}).items():
        left = f"{arm['left']} left" if arm["left"] else "none left"
        if arm["left"]:
            about = "" if arm["left_s_about"] is None else f"about {arm['left_s_about']:,.0f} s, "
            left += f", {about}at most {arm['left_s_at_most']:,.0f} s with {trials['workers']} workers"
            if arm["left_cost_usd_about"] is not None:
                left += f", about {arm['left_cost_usd_about']:,.2f} dollars"
            left += "; it costs money (WEIGHBRIDGE_SPEND=yes)" if arm["paid"] else ""
        print(f"{side:12} {one_line(arm['name'], 60)}: {arm['finished']} of {arm['planned']} trials, {left}")
    if trials and trials["stopped"]:
        print(f"{'stopped':12} {one_line(trials['stopped'])}")
    for name in found.get("unpulled", [])[:5]:
        print(f"{'not here':12} {one_line(name)}")
    if found["decision"]:
        print(f"{'decision':12} {found['decision']['decision']} ({found['decision']['reason']})")
    print(f"{'next':12} {found['next'] or 'nothing: `weighbridge verify` checks it'}")
    return None
