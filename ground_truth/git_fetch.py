"""Fetches into a clone at the user's request: its remotes are read as data, and only addresses are used."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import NamedTuple

from chunkers.errors import UsageError
from ground_truth.git_layout import Layout, locate
from ground_truth.git_program import GitError, base_environment, read_git, run, scratch

_PROTOCOLS = ("https", "ssh", "file")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
_SCP = re.compile(r"(?:[^\s@:/-][^\s@:/]*@)?(?:\w[\w.-]*|\[[0-9a-fA-F:.]+\]):(?!:)\S")
_SECRET = re.compile(r"(://)[^/@\s]+@")
_REFSPEC = re.compile(r"[+^]?[\w./*{}@-]+(?::[\w./*{}@-]+)?\Z")
# What a user may set to reach a server at night; any other GIT_ variable could change which repository is meant.
_TRUSTED = re.compile(
    r"GIT_(?:SSH|SSH_COMMAND|SSH_VARIANT|ASKPASS|SSL_\w+|PROXY_\w+|HTTP_\w+|CONFIG_(?:GLOBAL|SYSTEM|NOSYSTEM))\Z"
)
_OFF = (
    f"core.hooksPath={os.devnull}",
    "core.fsmonitor=false",
    "core.alternateRefsCommand=true",
    "gc.auto=0",
    "maintenance.auto=false",
    "fetch.recurseSubmodules=false",
    "fetch.writeCommitGraph=false",
    "submodule.recurse=false",
    "http.lowSpeedLimit=100",
    "http.lowSpeedTime=120",
)


class Remote(NamedTuple):
    """Where a clone fetches from, and which refs it keeps."""

    name: str
    url: str
    refspecs: tuple[str, ...]


def fetch_clone(clone: Path) -> None:
    """Update the clone's refs from its remotes, over https, ssh or a local path; nothing that the clone names runs.

    Credentials are the user's own (ssh agent, credential helper, environment); there is never a password prompt,
    because nightly runs are unattended.
    """
    layout = locate(clone)
    _check_refs(layout)
    for remote in remotes(layout):
        _fetch(layout, remote)


def remotes(layout: Layout) -> list[Remote]:
    """Return the remotes in the clone's configuration, which is read as text: no include is followed."""
    file = layout.common / "config"
    printed = read_git(layout, "config", "--file", str(file), "--no-includes", "--null", "--list") if _is(file) else b""
    found: dict[str, dict[str, list[str]]] = {}
    for entry in printed.decode("utf-8", "replace").split("\0"):
        key, _, value = entry.partition("\n")
        section, _, rest = key.partition(".")
        name, _, field = rest.rpartition(".")
        if section == "remote" and name:
            found.setdefault(name, {}).setdefault(field, []).append(value)
    return [
        Remote(name, fields["url"][0], tuple(fields.get("fetch", ())))
        for name, fields in sorted(found.items())
        if "url" in fields and not {"true", "yes", "1", ""}.intersection(fields.get("skipfetchall", ()))
    ]


def _is(file: Path) -> bool:
    return file.is_file() and not file.is_symlink()


def _fetch(layout: Layout, remote: Remote) -> None:
    address = _address(layout, remote)
    for refspec in remote.refspecs:
        if not _REFSPEC.match(refspec):
            raise UsageError(f"{layout.clone}: remote {remote.name!r} has the refspec {refspec!r}: correct it")
    with scratch(layout) as home:
        (home / "refs").rmdir()
        for name in ("refs", "packed-refs"):
            if (layout.common / name).exists():
                (home / name).symlink_to(layout.common / name)
        environment = {
            **{
                name: value for name, value in os.environ.items() if not name.startswith("GIT_") or _TRUSTED.match(name)
            },
            **base_environment(home, layout),
            # This overrides every configuration, the user's own included.
            "GIT_ALLOW_PROTOCOL": ":".join(_PROTOCOLS),
            "GIT_PROTOCOL_FROM_USER": "0",
        }
        options = ("--quiet", "--no-write-fetch-head", "--no-recurse-submodules", "--no-auto-maintenance", "--force")
        settings = [part for each in _OFF for part in ("-c", each)]
        try:
            run(
                layout, *settings, "fetch", *options, "--end-of-options", address, *remote.refspecs,
                environment=environment, cwd=home,
            )  # fmt: skip
        except GitError as failed:
            raise _explained(layout, failed) from None


def _address(layout: Layout, remote: Remote) -> str:
    """Return the remote's address if it is one of the three kinds; ``ext::``, ``http://`` and helpers are not."""
    url = remote.url.strip()
    scheme = _SCHEME.match(url)
    if (scheme and scheme[1] in _PROTOCOLS) or (not scheme and _SCP.match(url)):
        return url
    if not scheme and "::" not in url and not url.startswith("-") and url:
        # A relative path is resolved from the clone, as git does.
        return str((layout.clone / url).absolute())
    raise UsageError(
        f"{layout.clone}: remote {remote.name!r} is {_redacted(url)!r}: only https, ssh and local paths are fetched"
    )


def _check_refs(layout: Layout) -> None:
    """Raise if refs would be written anywhere but into the clone."""
    home = layout.common / "refs"
    inside = (
        path for folder, names, files in os.walk(home) for path in (Path(folder, one) for one in (*names, *files))
    )
    strange = next((path for path in (home, layout.common / "packed-refs", *inside) if path.is_symlink()), None)
    if strange:
        raise UsageError(f"{strange} is a symbolic link: clone the repository again to fetch into it")


def _explained(layout: Layout, failed: GitError) -> UsageError:
    # Advice depends on the error.
    wrong = [line for line in failed.said if line.startswith(("fatal: ", "error: "))] or failed.said[-1:]
    why = _redacted(wrong[0]).rstrip(".") if wrong else f"exit {failed.code}"
    return UsageError(f"{layout.clone}: git fetch failed: {why}. Correct the remote, or set fetch = false")


def _redacted(text: str) -> str:
    """Return the text without the user names and passwords in addresses."""
    return _SECRET.sub(r"\1…@", text)
