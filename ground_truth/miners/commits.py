"""Queries from history: a commit's message asks, the lines it changed answer, at the parent commit."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from pathlib import Path

from chunkers.errors import UsageError
from ground_truth.generated_code import is_generated
from ground_truth.git import Commit, changes, commits, is_git, list_tree, read_blobs, resolve_ref, revisions
from ground_truth.miners.english import FILLERS
from ground_truth.miners.equal_texts import normalised
from ground_truth.miners.query_text import MIN_WORDS
from ground_truth.miners.types import Mined
from ground_truth.patches import FilePatch, merged, parse_patch
from ground_truth.source_paths import has_test_word, is_source, is_test_file
from ground_truth.types import Annotation, Query

MAX_CHANGED_LINES = 200
MAX_QUERY_WORDS = 120
_BOT = re.compile(r"\[bot\]|\bbot\b|dependabot|renovate|greenkeeper|pre-commit-ci|github-actions|snyk", re.IGNORECASE)
_CHORE = re.compile(
    r"^(revert|merge|release|bump|version|prepare (for )?release|back to development|update (dependenc|changelog)"
    r"|changelog|fix(?:e[sd])? (?:the )?(?:ci|build|tests?)\b"
    r"|wip\b|fixup!|squash!|\[?(?:chore|ci|build|tests?|style)(?:\([^)]*\))?[\]!]?:)|\bv?\d+\.\d+\.\d+\s*$",
    re.IGNORECASE,
)
_FORMATTING = re.compile(
    r"\b(re)?format(ted|ting)?\b|\bblack(en)?\b|\bisort\b|\bflake8\b|\blint(er|ing)?\b|\bpep ?8\b|\bprettier\b"
    r"|\bgofmt\b|\brustfmt\b|\bruff\b|\bwhitespace\b|\bindentation\b|\btypos?\b|\bspelling\b|\bcode style\b"
    r"|\bdoc(s|umentation|strings?)?\b|\breadme\b|\bcomments?\b",
    re.IGNORECASE,
)
_TRAILER = re.compile(r"^[A-Z][A-Za-z-]+(-by|-off-by|-id|-on): .*$|^(https?://\S+|git-svn-id:.*)$", re.MULTILINE)
# The commit list of a squash, and the headings, tables, check lists and hints of a template.
_LISTED = re.compile(r"\s*(?:[*-] |commit [0-9a-f]{7,}|[0-9a-f]{7,40} |#+ |\||>|<!--|-->)|\s*-{3,}\s*$")
_TYPE = re.compile(r"^\[?(?:feat(?:ure)?|fix|perf|refactor)(?:\([^)]*\))?(?:\]:?|!?:)\s+", re.IGNORECASE)
_NAMES_ELSEWHERE = re.compile(
    r"(?:\b(?:refs?|see|from|via):? )?(?<!\S)\(?https?://[^\s)]+\)?|\b[0-9a-f]{12,40}\b", re.IGNORECASE
)
_SAYS_LITTLE = FILLERS | frozenset(
    """
    add added adding adds address addressed addresses better bit bug bugs change changed changes changing clean cleaned
    cleaning cleanup clean-up code comment comments concern concerns couple feedback few fix fixed fixes fixing improve
    improved improvement improvements improves improving issue issues merge minor misc more nit nits oops pr refactor
    refactored refactoring remove removed removes removing review reviews rework rewrite simplify small stuff test
    tested testing tests tidy tweak tweaks update updated updates updating work working
    """.split()
)
MIN_CONTENT_WORDS = 2
_REFERENCE = re.compile(
    r"(?<!\s)\s*\((?:#\d+|gh-\d+)(?:,\s*#\d+)*\)"
    r"|(?<!\s)\s*\((?:fix(?:e[sd])?|close[sd]?|refs?|resolve[sd]?|see):? (?:gh-|#)\d+\)"
    r"|\b(?:fix(?:e[sd])?|close[sd]?|refs?|resolve[sd]?):? #\d+\b\.?",
    re.IGNORECASE,
)


def _query(commit: Commit) -> str:
    """Return the message without trailers, issue numbers and repetitions of a squash, up to a readable length."""
    subject = _TYPE.sub("", _REFERENCE.sub("", commit.subject).strip())
    message = _TRAILER.sub("", commit.body.replace("\r", "")).strip()
    body = next(filter(None, (_prose(part, subject) for part in message.split("\n\n"))), "")
    return " ".join(_NAMES_ELSEWHERE.sub("", f"{subject} {body}").split()[:MAX_QUERY_WORDS]).rstrip(",;:- ")


def _prose(paragraph: str, subject: str) -> str:
    """Return a paragraph without the lists of a squash or a template, and without a repeated subject."""
    lines = [line for line in paragraph.split("\n") if not _LISTED.match(line)]
    text = " ".join(_REFERENCE.sub("", " ".join(lines)).split())
    return "" if normalised(text) in ("", normalised(subject)) else text


def mine_commits(
    clone: Path, *, name: str, limit: int | None = None, seed: int = 0, max_files: int = 5, revision: str = "HEAD"
) -> Mined:
    """Return at most ``limit`` queries from the history of a clone, chosen by the seed alone.

    Each query searches the parent of its commit, whose hash is in ``commits``. Commits are drawn in an order that the
    seed gives and examined until the limit is reached; the rest is counted as such.
    """
    if not is_git(clone):
        raise UsageError(f"{clone} is not a git clone: commits are mined from history; choose another --kind")
    dropped: Counter[str] = Counter()
    queries: list[Query] = []
    notes: list[Annotation] = []
    parents: dict[str, str] = {}
    hopeful = [one for one in _history(clone, revision) if not _note(dropped, _message_reason(one))]
    hopeful.sort(key=lambda one: hashlib.sha256(f"{seed}\0{one.id}".encode()).digest())
    asked: set[str] = set()
    for position, commit in enumerate(hopeful):
        if limit is not None and len(queries) == limit:
            dropped["over the cap"] += len(hopeful) - position
            break
        if _note(dropped, "same message as another" if normalised(_query(commit)) in asked else ""):
            continue
        patches = _patches(clone, commit)
        if patches is None:
            dropped["changes too much to be read"] += 1
            continue
        if _note(dropped, _change_reason(patches, max_files)):
            continue
        patches = _without_generated(clone, commit, patches)
        if _note(dropped, "" if patches else "changes generated files only"):
            continue
        asked.add(normalised(_query(commit)))
        query_id, repo = f"{name}:{commit.id[:12]}", f"{name}@{commit.parents[0][:12]}"
        queries.append(Query(query_id, _query(commit), repo, group=name, kind="commits"))
        parents[query_id] = commit.parents[0]
        notes += [
            Annotation(query_id, repo, patch.old_path or "", lines.first, lines.last)
            for patch in _gold_files(patches)
            for lines in merged(patch.changed)
        ]
    return Mined(tuple(queries), tuple(notes), +dropped, parents)


def _history(clone: Path, revision: str) -> list[Commit]:
    """Return the commits reachable from the revision; a parent beyond the end of a shallow clone does not count."""
    names = revisions(clone, resolve_ref(clone, revision))
    known = set(names)
    return [
        commit._replace(parents=tuple(parent for parent in commit.parents if parent in known))
        for commit in commits(clone, names)
    ]


def _message_reason(commit: Commit) -> str:
    """Return why a commit yields no query, as far as its message shows, or nothing."""
    if len(commit.parents) != 1:
        return "merge" if commit.parents else "first commit"
    if _BOT.search(commit.author):
        return "bot"
    if _CHORE.search(commit.subject):
        return "release, revert or chore"
    if _FORMATTING.search(commit.subject):
        return "formatting or documentation"
    query = _query(commit)
    if len(query.split()) < MIN_WORDS:
        return "message too short"
    said = set(re.findall(r"[^\W\d_][\w'-]+", query.lower())) - _SAYS_LITTLE
    return "message says too little" if len(said) < MIN_CONTENT_WORDS else ""


def _patches(clone: Path, commit: Commit) -> list[FilePatch] | None:
    """Return the commit's non-whitespace changes; None if they exceed the size limit."""
    patch = changes(clone, commit.parents[0], commit.id)
    return None if patch is None else parse_patch(patch, where=f"{clone} commit {commit.id[:12]}")


def _without_generated(clone: Path, commit: Commit, patches: list[FilePatch]) -> list[FilePatch]:
    """Return the gold of a commit without generated files: if their source changed, that is what remains."""
    gold = {patch.old_path: patch for patch in _gold_files(patches)}
    blobs = {blob.path: blob.object_id for blob in list_tree(clone, commit.parents[0])}
    known = [path for path in gold if path in blobs]
    contents = dict(zip(known, read_blobs(clone, [blobs[path] for path in known]), strict=True))
    return [patch for path, patch in gold.items() if path and not is_generated(path, contents.get(path, b""), blobs)]


def _may_be_gold(patch: FilePatch) -> bool:
    """Return whether a change is of source lines that remain: a file that is moved away or deleted answers nothing."""
    path = patch.old_path
    if path is None or patch.new_path is None or not patch.changed or not is_source(path):
        return False
    return not (has_test_word(path) or is_test_file(path))


def _gold_files(patches: list[FilePatch]) -> list[FilePatch]:
    return [patch for patch in patches if _may_be_gold(patch)]


def _change_reason(patches: list[FilePatch], max_files: int) -> str:
    """Return why a commit yields no query, as far as its changes show, or nothing."""
    if not any(patch.changed for patch in patches):
        return "only new files, whitespace or binary changes" if patches else "changes whitespace only"
    gold = _gold_files(patches)
    if not gold:
        is_away = all(patch.new_path is None for patch in patches if patch.changed)
        return "only moves or deletes files" if is_away else "no source lines changed"
    if len(patches) > 4 * max_files or len(gold) > max_files:
        return "too many files"
    changed = sum(lines.last - lines.first + 1 for patch in gold for lines in patch.changed)
    return "too many lines" if changed > MAX_CHANGED_LINES else ""


def _note(dropped: Counter[str], reason: str) -> str:
    if reason:
        dropped[reason] += 1
    return reason
