"""Wheels made by hand, so that no test needs a registry."""

from __future__ import annotations

import base64
import hashlib
import io
import zipfile


def wheel(name: str, files: dict[str, str], *, tag: str = "py3-none-any", version: str = "1.0") -> tuple[str, bytes]:
    """File name and bytes of a wheel with these files, its metadata and its RECORD."""
    info = f"{name}-{version}.dist-info"
    members = {
        **files,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{info}/WHEEL": f"Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: {tag}\n",
    }
    record = []
    for path, text in members.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
        record.append(f"{path},sha256={digest},{len(text.encode())}")
    members[f"{info}/RECORD"] = "\n".join([*record, f"{info}/RECORD,,"]) + "\n"
    return f"{name}-{version}-{tag}.whl", archive(members)


def archive(members: dict[str, str]) -> bytes:
    """A zip archive with these members."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as made:
        for path, text in members.items():
            made.writestr(zipfile.ZipInfo(path), text)
    return stream.getvalue()
