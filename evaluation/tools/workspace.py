"""The files that a tool searches, in a folder of their own: hidden text is blanked, and nothing of the corpus runs."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from chunkers.sources import Repository
from chunkers.types import SourceFile
from evaluation.spans.rows import PlaceRow
from evaluation.tools.asking import ToolError


class Workspace:
    """Copies of the files of one repository, or of several, each in a folder with its name."""

    def __init__(self, root: Path, names: Mapping[str, tuple[str, str]]) -> None:
        self.root, self._names = root, names
        self._roots = (root, root.resolve())

    def place(self, row: PlaceRow) -> PlaceRow:
        """Return the place with the corpus's names of repository and file."""
        if row.repo:
            return row
        path = Path(row.file)
        if path.is_absolute():
            path = next((path.relative_to(root) for root in self._roots if path.is_relative_to(root)), path)
        known = self._names.get(posixpath.normpath(path.as_posix()))
        return row if known is None else row.model_copy(update={"repo": known[0], "file": known[1]})


def lay_out(root: Path, repositories: Sequence[Repository], show: Callable[[SourceFile], bytes]) -> Workspace:
    """Write the files below a folder, hidden text blanked, and return the path of each."""
    names: dict[str, tuple[str, str]] = {}
    for repository in repositories:
        base = repository.name if len(repositories) > 1 else ""
        for source in repository.files():
            name = posixpath.join(base, source.path)
            parts = name.split("/")
            if not name or name.startswith("/") or "\0" in name or {"", ".", ".."} & set(parts):
                raise ToolError(f"{name!r} cannot be a file in a folder: tools cannot search this dataset")
            try:
                target = root.joinpath(*parts)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(show(source))
            except OSError as error:
                raise ToolError(f"{name!r} cannot be written for the tool ({error.strerror or error})") from None
            names[name] = (repository.name, source.path)
    return Workspace(root, names)
