"""`chunkbench annotate`: marks gold for your own questions, from places that share their words; and checks it."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from chunkers.errors import UsageError
from chunkers.plain_text import shown
from scripts.verbosity import note

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chunkers.sources import Repository
    from ground_truth.annotations import AnnotationRow
    from ground_truth.fitting import Fit
    from ground_truth.proposals import Place, Proposals
    from ground_truth.questions import AskedQuestion

_SHOWN = 12
"""Lines of a candidate that are shown initially."""
_PLACE = re.compile(r"(?P<file>.+?):(?P<first>\d+)(?:-(?P<last>\d+))?\Z")
_HELP = (
    "numbers of those that answer (1 3), or a place (src/a.py:10-20); m more candidates, w whole text, "
    "s or Enter none, q quit"
)


@click.command(
    epilog="\b\nExamples:\n"
    "  chunkbench annotate questions.txt ~/code/project --out gold.jsonl\n"
    "  chunkbench annotate questions.txt ~/code/project --json > candidates.json\n"
    "  chunkbench annotate --check gold.jsonl ~/code/project\n"
    "  chunkbench compare --dataset annotations:path=gold.jsonl,root=~/code/project"
)
@click.argument("places", nargs=-1, type=click.Path(path_type=Path), metavar="[QUESTIONS] REPOSITORY")
@click.option("--check", "checked", type=click.Path(path_type=Path), help="Validate this annotation file instead.")
@click.option("--out", type=click.Path(path_type=Path), help="The annotation file to write or continue.")
@click.option("--candidates", type=click.IntRange(1, 50), default=5, show_default=True, help="Places per question.")
@click.option("--json", "as_json", is_flag=True, help="Print candidates, or the check, as one JSON object.")
def command(*, places: tuple[Path, ...], checked: Path | None, out: Path | None, candidates: int, as_json: bool) -> int:
    """Mark the lines that answer your questions, or check that marked lines are still there.

    QUESTIONS has one question per line (or JSON Lines with query and query_id). For each, places of REPOSITORY are
    proposed by shared words and identifiers, never by an embedder. On a terminal you choose, and the rows are written
    to --out, each with the text it points at, so that it can be found again when the code moves; an existing file is
    continued. Without a terminal, or with --json, the candidates are printed as JSON.

    --check reads an annotation file against REPOSITORY (by default the current folder) without a run. For each row
    that does not fit, the nearest place is printed as a row ready to paste, and the exit code is 1.
    """
    if checked is not None:
        if len(places) > 1 or out is not None:
            raise UsageError("--check takes the annotation file and one repository: annotate --check FILE REPOSITORY")
        return _check(checked, places[0] if places else Path(), as_json=as_json)
    if len(places) != 2:
        raise UsageError("write annotate QUESTIONS REPOSITORY, or annotate --check FILE REPOSITORY")
    from ground_truth.proposals import Proposals
    from ground_truth.questions import read_questions

    questions, repository = read_questions(places[0]), _open(places[1])
    if as_json or not (sys.stdin.isatty() and sys.stdout.isatty()):
        if out is not None:
            raise UsageError("--out is for choosing on a terminal: redirect the JSON, or run it where you can type")
        proposals = Proposals.of(repository)
        found = [_as_json(question, repository, proposals, candidates) for question in questions]
        click.echo(json.dumps({"repository": repository.name, "questions": found}, indent=1, ensure_ascii=False))
        return 0
    if out is None:
        raise UsageError("say where the rows go: add --out FILE.jsonl")
    return _ask(questions, repository, out, candidates)


def _open(place: Path) -> Repository:
    from chunkers.sources import walk
    from ground_truth.git import is_named_bare, resolve_ref
    from ground_truth.git_snapshot import take_snapshot

    if place.is_dir() and is_named_bare(place):
        return take_snapshot(place, resolve_ref(place, "HEAD"), name=place.resolve().name.removesuffix(".git"))
    return walk(place)


def _row(question: AskedQuestion, repository: Repository, file: str, first: int, last: int) -> AnnotationRow:
    """Return the row of a place, with its text as the anchor; raise if there are no such lines."""
    from ground_truth.annotations import AnnotationRow
    from ground_truth.fitting import with_anchor
    from ground_truth.lines import FileLines

    source = repository.read(file)
    count = FileLines.of(source.data).count if source is not None else 0
    if source is None or not 1 <= first <= last <= count:
        raise UsageError(f"{file}:{first}-{last} is not there" + (f": it has {count} lines" if source else ""))
    row = AnnotationRow(query_id=question.id, query=question.text, file=file, start_line=first, end_line=last)
    return with_anchor(row, source.data)


def _as_json(question: AskedQuestion, repository: Repository, proposals: Proposals, count: int) -> dict[str, Any]:
    rows = [
        {
            "row": _row(question, repository, place.path, place.first, place.last).model_dump(exclude_defaults=True),
            "score": place.score,
            "evidence": list(place.evidence),
        }
        for place in proposals.best(question.text, count=count)
    ]
    return {"query_id": question.id, "query": question.text, "candidates": rows}


class _Answer(NamedTuple):
    """The user's answer: places to write, or another action."""

    places: list[tuple[str, int, int]]
    wish: str = ""
    """more, whole, quit, or nothing."""


def _ask(questions: Sequence[AskedQuestion], repository: Repository, out: Path, count: int) -> int:
    """Ask for each question without a row; choices are written to disk before the next question."""
    from ground_truth.annotations import read_rows, write_rows
    from ground_truth.proposals import Proposals

    done = {row.value.query_id for row in read_rows(out)} if out.exists() and out.read_bytes().strip() else set()
    left = [question for question in questions if question.id not in done]
    if done:
        click.echo(f"{len(questions) - len(left)} of {len(questions)} questions have rows in {out}", err=True)
    click.echo(_HELP, err=True)
    proposals, written = Proposals.of(repository), 0
    for number, question in enumerate(left, 1):
        click.echo(f"\n[{number}/{len(left)}] {shown(question.text)}")
        answer = _choose(question, repository, proposals, count)
        if answer.wish == "quit":
            break
        rows = [_row(question, repository, *place) for place in answer.places]
        if rows:
            with out.open("a", encoding="utf-8") as file:
                file.write(write_rows(rows))
            written += len(rows)
    click.echo(f"\n{written} rows written to {out}", err=True)
    return 0


def _choose(question: AskedQuestion, repository: Repository, proposals: Proposals, count: int) -> _Answer:
    seen = 0
    places: list[Place] = []
    lines = _SHOWN
    while True:
        places = proposals.best(question.text, count=max(count, len(places)))
        for number, place in enumerate(places[seen:], seen + 1):
            _show(number, place, repository, lines)
        if not places:
            click.echo("  no place shares a distinctive word with it: type one, or s")
        seen = len(places)
        answer = _typed(question, repository, places)
        if answer.wish == "more":
            count += 5
        elif answer.wish == "whole":
            seen, lines = 0, 10_000
        else:
            return answer


def _typed(question: AskedQuestion, repository: Repository, places: Sequence[Place]) -> _Answer:
    """Read input until it is valid."""
    wishes = {"m": "more", "w": "whole", "q": "quit", "s": "", "": ""}
    while True:
        text = click.prompt("answer", default="", show_default=False).strip()
        if text in wishes:
            return _Answer([], wishes[text])
        try:
            chosen = list(dict.fromkeys(_place(word, places) for word in text.replace(",", " ").split()))
            for place in chosen:
                _row(question, repository, *place)
        except UsageError as error:
            click.echo(f"  {shown(str(error))}. Type {_HELP}")
        else:
            return _Answer(chosen)


def _place(word: str, places: Sequence[Place]) -> tuple[str, int, int]:
    if word.isascii() and word.isdigit() and len(word) < 4 and 1 <= int(word) <= len(places):
        place = places[int(word) - 1]
        return place.path, place.first, place.last
    match = _PLACE.match(word)
    if match is None or len(match["first"]) > 9 or len(match["last"] or "") > 9:
        raise UsageError(f"{word!r} is neither the number of a candidate nor a place such as src/a.py:10-20")
    return match["file"], int(match["first"]), int(match["last"] or match["first"])


def _show(number: int, place: Place, repository: Repository, most: int) -> None:
    source = repository.read(place.path)
    lines = source.data.decode("utf-8", "replace").split("\n")[place.first - 1 : place.last] if source else []
    words = ", ".join(place.evidence[:6])
    click.echo(shown(f"\n {number}  {place.path}:{place.first}-{place.last}  shares {words}"))
    for offset, line in enumerate(lines[:most]):
        click.echo(shown(f"   {place.first + offset:>5}  {line.rstrip()[:110]}"))
    if len(lines) > most:
        click.echo(f"          … {len(lines) - most} more lines (w)")


class _Finding(NamedTuple):
    """One row that needs attention, and the row to paste in its place."""

    where: str
    verdict: str
    what: str
    remedy: str
    paste: str


def _check(path: Path, root: Path, *, as_json: bool) -> int:
    from ground_truth.datasets.annotations import fits_of

    fits = fits_of(path, root)
    findings = [_finding(path, fit) for fit in _proposed(fits)]
    bad = sum(not fit.usable for fit, _ in fits)
    counts: dict[str, int] = {}
    for fit, _ in fits:
        counts[fit.verdict] = counts.get(fit.verdict, 0) + 1
    if as_json:
        rows = [finding._asdict() for finding in findings]
        click.echo(json.dumps({"file": str(path), "rows": len(fits), "verdicts": counts, "findings": rows}, indent=1))
    else:
        for finding in findings:
            remedy = f": {finding.remedy}" if finding.remedy else ""
            click.echo(shown(f"{finding.where}: {finding.verdict}: {finding.what}{remedy}"))
            if finding.paste:
                click.echo(f"  {shown(finding.paste)}")
        told = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
        note(f"{path}: {len(fits)} rows: {told}")
    return 1 if bad else 0


def _proposed(fits: Sequence[tuple[Fit, Repository]]) -> list[tuple[Fit, AnnotationRow | None]]:
    """Return the rows that need attention with the nearest place: where they went, else by the question's words."""
    from ground_truth.fitting import with_anchor
    from ground_truth.proposals import Proposals

    known: dict[str, Proposals] = {}
    found: list[tuple[Fit, AnnotationRow | None]] = []
    for fit, repository in fits:
        if fit.verdict in ("fits", "unchanged"):
            continue
        row, place = fit.row.value, fit.place
        if fit.usable:
            at = (row.file, row.start_line, row.end_line)
        elif place is not None and place.similarity > 0.3:
            at = (place.path, place.first, place.last)
        else:
            name = row.file if fit.verdict == "lines outside the file" else ""
            key = f"{repository.name}\0{name}"
            if key not in known:
                source = repository.read(name) if name else None
                known[key] = Proposals([source] if source else repository.files())
            best = known[key].best(row.query, count=1)
            at = best[0][:3] if best else ("", 0, 0)
        source = repository.read(at[0]) if at[0] else None
        update = {"file": at[0], "start_line": at[1], "end_line": at[2]}
        found.append((fit, with_anchor(row.model_copy(update=update), source.data) if source else None))
    return found


def _finding(path: Path, found: tuple[Fit, AnnotationRow | None]) -> _Finding:
    from ground_truth.annotations import write_rows

    fit, row = found
    paste = write_rows([row]).strip() if row is not None else ""
    return _Finding(f"{path}:{fit.row.number}", fit.verdict, fit.what, fit.remedy, paste)
