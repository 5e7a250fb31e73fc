"""The seccomp filter of a sandbox: system calls and socket families that no agent or oracle needs.

A classic BPF program as `bwrap --seccomp` takes it. Small on purpose: what needs a capability is refused by
the kernel already, so this denies what an unprivileged process could reach (seccomp(2), bpf(4) of Linux).
"""

from __future__ import annotations

import errno
import os
import struct

_EPERM = 0x00050000 | errno.EPERM
_ENOSYS = 0x00050000 | errno.ENOSYS
_NO_FAMILY = 0x00050000 | errno.EAFNOSUPPORT
_ALLOW = 0x7FFF0000
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06  # LD|W|ABS, JMP|JEQ|K, JMP|JGE|K, RET|K
_NR, _ARCH, _FIRST_ARGUMENT = 0, 4, 16  # offsets in struct seccomp_data; little-endian machines only
_X32 = 0x40000000

_FAMILIES = (1, 2, 10, 16)  # unix, inet, inet6, netlink: no vsock to the host, no raw packets, no kernel crypto

# machine: audit architecture, socket(2), and the refused calls
_CALLS: dict[str, tuple[int, int, dict[str, int]]] = {
    "x86_64": (
        0xC000003E,
        41,
        {
            "ptrace": 101,
            "add_key": 248,
            "request_key": 249,
            "keyctl": 250,
            "unshare": 272,
            "perf_event_open": 298,
            "open_by_handle_at": 304,
            "setns": 308,
            "process_vm_readv": 310,
            "process_vm_writev": 311,
            "bpf": 321,
            "userfaultfd": 323,
            "io_uring_setup": 425,
            "io_uring_enter": 426,
            "io_uring_register": 427,
            "pidfd_getfd": 438,
        },
    ),
    "aarch64": (
        0xC00000B7,
        198,
        {
            "unshare": 97,
            "ptrace": 117,
            "add_key": 217,
            "request_key": 218,
            "keyctl": 219,
            "perf_event_open": 241,
            "open_by_handle_at": 265,
            "setns": 268,
            "process_vm_readv": 270,
            "process_vm_writev": 271,
            "bpf": 280,
            "userfaultfd": 282,
            "io_uring_setup": 425,
            "io_uring_enter": 426,
            "io_uring_register": 427,
            "pidfd_getfd": 438,
        },
    ),
}


def program(machine: str | None = None) -> bytes | None:
    """The filter for this machine, or None where its call numbers aren't known.

    Calls of a foreign architecture (32 bit, x32) are refused whole, since their numbers mean something else.
    """
    known = _CALLS.get(machine or os.uname().machine)
    if known is None:
        return None
    arch, socket, refused = known
    code = [_step(_LOAD, _ARCH), _step(_EQUAL, arch, 1, 0), _step(_RETURN, _ENOSYS)]
    code += [_step(_LOAD, _NR), _step(_AT_LEAST, _X32, 0, 1), _step(_RETURN, _ENOSYS)]
    for number in sorted(refused.values()):
        code += [_step(_EQUAL, number, 0, 1), _step(_RETURN, _EPERM)]
    code += [_step(_EQUAL, socket, 1, 0), _step(_RETURN, _ALLOW), _step(_LOAD, _FIRST_ARGUMENT)]
    for family in _FAMILIES:
        code += [_step(_EQUAL, family, 0, 1), _step(_RETURN, _ALLOW)]
    return b"".join([*code, _step(_RETURN, _NO_FAMILY)])


def _step(code: int, value: int, then: int = 0, otherwise: int = 0) -> bytes:
    return struct.pack("<HBBI", code, then, otherwise, value)
