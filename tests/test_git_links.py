"""Files of a clone that lead elsewhere: what they lead to is neither believed nor shown."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from test_git_canaries import history

from chunkers.errors import UsageError
from ground_truth.git import resolve_ref, revisions

OTHERS = "root:$6$salt$hash:20228:0:99999:7:::"


@pytest.mark.parametrize("name", ["shallow", "commondir", "objects/info/alternates"])
@pytest.mark.parametrize("text", [OTHERS, "/" + OTHERS * 150])
def test_no_message_quotes_a_file_outside(tmp_path: Path, name: str, text: str) -> None:
    """Git, and we, would name the line that is wrong."""
    clone = tmp_path / "clone"
    history(clone)
    (tmp_path / "shadow").write_text(text + "\n")
    place = clone / ".git" / name
    place.parent.mkdir(exist_ok=True)
    place.unlink(missing_ok=True)
    place.symlink_to(tmp_path / "shadow")
    try:
        said = f"{len(revisions(clone, resolve_ref(clone, 'main')))} commits"
    except UsageError as error:
        said = str(error)
    assert "salt" not in said
    assert said == "3 commits" or "symbolic link" in said


def test_a_pipe_below_the_packs_is_no_wait(tmp_path: Path) -> None:
    """From version 2.47 on, git looks for the list of its indexes there."""
    clone = tmp_path / "clone"
    history(clone)
    folder = clone / ".git" / "objects" / "pack" / "multi-pack-index.d"
    folder.mkdir(parents=True)
    os.mkfifo(folder / "multi-pack-index-chain")
    with pytest.raises(UsageError, match="neither a file nor a folder"):
        resolve_ref(clone, "main")
