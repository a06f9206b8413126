"""Plug-ins by where their class is: files, modules, namespace packages, objects; and plug-ins that are broken."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
import textwrap
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import ClassVar

import pytest
from conftest import Command

import chunkers
import ground_truth
import indexing
from chunkers.errors import UsageError
from chunkers.fixed_lines import FixedLines
from chunkers.plugin_code import code_hash
from chunkers.plugins import Spec, identity
from chunkers.registry import CHUNKERS
from chunkers.types import Piece, SourceFile
from evaluation.measures.declared import own_facts
from evaluation.measures.registry import parse_measure, remember_measure
from indexing.embedding_cache import EmbeddingCache
from indexing.registry import ENCODERS

ROOT = Path(__file__).parent.parent
PARAGRAPHS = """
    from __future__ import annotations

    import re
    from dataclasses import dataclass
    from typing import ClassVar

    from chunkers.types import Piece, SourceFile


    @dataclass(frozen=True, kw_only=True)
    class Paragraphs:
        blank: int = 1
        version: ClassVar[str] = "1"
        lossless: ClassVar[bool] = True
        limit = None

        def split(self, source: SourceFile) -> list[Piece]:
            ends = [m.end() for m in re.finditer(rb"\\n{%d,}" % (self.blank + 1), source.data)]
            cuts = sorted({0, *ends, len(source.data)})
            return list(map(Piece, cuts, cuts[1:]))
    """
SOURCE = SourceFile("a.py", b"a = 1\n\nb = 2\n\n\nc = 3\n")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return a file with a chunker, in a folder whose name has a blank, a comma and an equals sign."""
    folder = tmp_path / "my, own=plug ins"
    folder.mkdir()
    path = folder / "paragraph-chunker.py"
    path.write_text(textwrap.dedent(PARAGRAPHS))
    return path


def test_a_file_is_a_plugin(file: Path) -> None:
    """Its class takes parameters, is made by every spelling of the path, and is the same class each time."""
    one = CHUNKERS.create(f"{file}:Paragraphs,blank=2")
    assert [piece[:2] for piece in one.split(SOURCE)] == [(0, 15), (15, 21)]
    assert len(CHUNKERS.create(f"{file}:Paragraphs").split(SOURCE)) == 3
    assert one == CHUNKERS.create(f"{file.parent}/../{file.parent.name}/{file.name}:Paragraphs,blank=2")
    assert identity(one) == {"class": "paragraph-chunker.py:Paragraphs", "version": "1", "blank": 2}


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("my.py:A", Spec("my.py:A")),
        ("a b/c,d=e/my.py:A.B,size=3,path=x.py:C", Spec("a b/c,d=e/my.py:A.B", (("size", "3"), ("path", "x.py:C")))),
        ("pack.age:A,size=3", Spec("pack.age:A", (("size", "3"),))),
        ("annotations:path=x.py:A,root=.", Spec("annotations", (("path", "x.py:A"), ("root", ".")))),
        ("~/my.py:A", Spec("~/my.py:A")),
    ],
)
def test_specs_of_files_and_modules(text: str, spec: Spec) -> None:
    """A target and its parameters are read apart, and written back as they were."""
    assert Spec.parse(text) == spec
    assert str(spec) == text


@pytest.mark.parametrize(
    ("source", "spec", "message"),
    [
        (PARAGRAPHS, "{0}", "names no class: write {0}:Class"),
        (PARAGRAPHS, "{0}:Paragraph", "has no Paragraph. It has: Paragraphs."),
        (PARAGRAPHS, "{0}:Piece", "is not a dataclass"),
        (PARAGRAPHS, "{0}:Paragraphs,blnk=2", "has no parameter 'blnk'. Did you mean 'blank'?"),
        (PARAGRAPHS, "absent-{0}:Paragraphs", "cannot be read: No such file or directory"),
        (PARAGRAPHS, "no_such_module_at_all:Paragraphs", "No module named 'no_such_module_at_all'"),
        ("    def (", "{0}:Paragraphs", "SyntaxError: invalid syntax"),
        ("    1 / 0", "{0}:Paragraphs", "ZeroDivisionError: division by zero"),
        ("    raise ValueError('a\\nb')", "{0}:Paragraphs", "ValueError: a"),
        ("    import no_such_module_at_all", "{0}:Paragraphs", "No module named 'no_such_module_at_all'"),
        (PARAGRAPHS.replace("limit = None", ""), "{0}:Paragraphs", "has no limit: a chunker needs version, lossless"),
    ],
)
def test_a_file_that_is_no_plugin_is_one_line(
    source: str, spec: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever its code does, the user reads what is wrong with which plug-in."""
    monkeypatch.chdir(tmp_path)
    Path("own.py").write_text(textwrap.dedent(source))
    with pytest.raises(UsageError) as raised:
        CHUNKERS.create(spec.format("own.py"))
    assert message.format("own.py") in str(raised.value)
    assert "\n" not in str(raised.value)


def test_the_code_that_ran_is_the_code_that_is_hashed(file: Path) -> None:
    """A changed file is a new class with a new hash; its neighbours and its place do not matter; the old stays."""
    old = CHUNKERS.create(f"{file}:Paragraphs")
    before = code_hash(type(old))
    (file.parent / "other.py").write_text("x = 1\n")
    assert code_hash(type(CHUNKERS.create(f"{file}:Paragraphs"))) == before
    moved = file.parent.parent / file.name
    moved.write_bytes(file.read_bytes())
    assert code_hash(type(CHUNKERS.create(f"{moved}:Paragraphs"))) == before
    file.write_text(file.read_text().replace("self.blank + 1", "self.blank + 2"))
    new = CHUNKERS.create(f"{file}:Paragraphs")
    assert code_hash(type(new)) != before
    assert code_hash(type(old)) == before
    assert (len(old.split(SOURCE)), len(new.split(SOURCE))) == (3, 2)


def test_a_plugin_of_a_file_goes_to_a_fresh_process(file: Path, tmp_path: Path) -> None:
    """Its pickle needs nothing but the file: a worker has never seen the module."""
    parcel = tmp_path / "parcel"
    parcel.write_bytes(pickle.dumps(CHUNKERS.create(f"{file}:Paragraphs,blank=2")))
    script = "import pickle, sys; print(pickle.load(open(sys.argv[1], 'rb')).blank)"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", script, parcel], check=True, capture_output=True, text=True, env=environment
    )
    assert done.stdout == "2\n"


@pytest.mark.parametrize("regular", [True, False])
def test_modules_of_the_current_folder_are_plugins(regular: bool, tmp_path: Path) -> None:  # noqa: FBT001 - a parameter
    """`module:Class` works where the command is started, in a package and in a namespace package."""
    package = tmp_path / "outer" / "inner"
    package.mkdir(parents=True)
    if regular:
        (tmp_path / "outer" / "__init__.py").touch()
    (package / "own.py").write_text(textwrap.dedent(PARAGRAPHS))
    (tmp_path / "a.py").write_bytes(SOURCE.data)
    # The installed command does not have the current folder on its path.
    start = "import sys; sys.path[:] = [p for p in sys.path if p]; from scripts.cli import main; main()"
    arguments = ["chunk", "a.py", "--json", "--chunker", "outer.inner.own:Paragraphs,blank=2"]
    done = subprocess.run(
        [sys.executable, "-c", start, *arguments],
        check=False,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 0, done.stderr
    assert [json.loads(line)["text"] for line in done.stdout.splitlines()] == ["a = 1\n\nb = 2\n\n\n", "c = 3\n"]


def test_the_code_of_a_namespace_package_is_that_of_its_modules(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The outermost folder has no file of its own; the module inside does, and its change changes the hash."""
    folder = tmp_path / "spacious"
    folder.mkdir()
    (folder / "own_chunker.py").write_text(textwrap.dedent(PARAGRAPHS))
    monkeypatch.syspath_prepend(str(tmp_path))
    before = code_hash(type(CHUNKERS.create("spacious.own_chunker:Paragraphs")))
    (folder / "own_chunker.py").write_text(textwrap.dedent(PARAGRAPHS) + "# changed\n")
    assert code_hash(type(CHUNKERS.create("spacious.own_chunker:Paragraphs"))) != before


EMBEDDER = """
    from dataclasses import dataclass

    from indexing.encoders.hashing import Hashing


    @dataclass(frozen=True, kw_only=True)
    class Own(Hashing):
        def encode(self, texts, *, kind):
            return super().encode([text.SPELLING() for text in texts], kind=kind)
    """


def test_vectors_of_a_changed_embedder_are_made_again(tmp_path: Path) -> None:
    """Its author need not think of a version: the cache knows the file."""
    cache, file, found = EmbeddingCache(tmp_path / "cache"), tmp_path / "own.py", []
    for spelling in ("lower", "lower", "title"):
        file.write_text(textwrap.dedent(EMBEDDER.replace("SPELLING", spelling)))
        encoder = ENCODERS.create(f"{file}:Own")
        found.append(cache.group(encoder, kind="document"))
    assert found[0] == found[1] != found[2]


@dataclass(frozen=True, kw_only=True)
class Halves:
    """Two halves of a file, or more."""

    parts: int = 2
    sizes: tuple[int, ...] = ()
    version: ClassVar[str] = "1"
    lossless: ClassVar[bool] = True
    limit = None

    def split(self, source: SourceFile) -> list[Piece]:
        """Return the parts."""
        size = -(-len(source.data) // self.parts) or 1
        return [Piece(at, min(at + size, len(source.data))) for at in range(0, len(source.data), size)]


def test_objects_have_specs(file: Path) -> None:
    """Defaults are left out; a registered class goes by its name, a file by its path, another class by its module."""
    assert CHUNKERS.spell(FixedLines(lines=7)) == ("fixed-lines:lines=7", FixedLines(lines=7), "")
    assert CHUNKERS.spell(Halves()).spec == f"{__name__}:Halves"
    assert CHUNKERS.spell(Halves(parts=3)) == (f"{__name__}:Halves,parts=3", Halves(parts=3), "")
    plugin = CHUNKERS.create(f"{file}:Paragraphs,blank=2")
    assert CHUNKERS.spell(plugin) == (f"{file}:Paragraphs,blank=2", plugin, "")


def test_objects_that_no_other_process_can_make_say_why() -> None:
    """A class inside a function, a class of this session, a value that no spec can hold."""

    @dataclass(frozen=True, kw_only=True)
    class Inner(Halves):
        """Not to be imported."""

    assert "is defined inside a function" in CHUNKERS.spell(Inner(parts=3)).only_here
    session = type("Session", (Halves,), {"__module__": "__main__", "__qualname__": "Session"})
    assert "is defined in this session" in CHUNKERS.spell(session()).only_here
    assert "a parameter of Halves cannot be written in a spec" in CHUNKERS.spell(Halves(sizes=(1, 2))).only_here
    with pytest.raises(UsageError, match="chunker object is not a dataclass"):
        CHUNKERS.spell(object())  # type: ignore[arg-type] # what is refused


def _made(step: int, body: str) -> type:
    """Return a class as a notebook makes it: without a file, with a helper and a constant beside it."""
    space: dict[str, object] = {"__name__": "__main__", "Halves": Halves, "dataclass": dataclass, "STEP": step}
    code = f"""
        def helper(x):
            return {body}

        @dataclass(frozen=True, kw_only=True)
        class Own(Halves):
            def split(self, source):
                return [helper(STEP) for _ in source.data]
        """
    exec(textwrap.dedent(code), space)  # noqa: S102 - a notebook's cell
    made = space["Own"]
    assert isinstance(made, type)
    return made


def test_code_without_a_file_is_hashed_by_what_it_reaches(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cell that is run again unchanged is the same code; a changed helper or constant is not."""
    monkeypatch.delattr(sys.modules["__main__"], "__file__", raising=False)
    assert code_hash(_made(1, "x + 1")) == code_hash(_made(1, "x + 1"))
    assert len({code_hash(_made(1, "x + 1")), code_hash(_made(2, "x + 1")), code_hash(_made(1, "x + 2"))}) == 3


BROKEN = """
    [chunkbench.{kind}s]
    broken = broken_plugins:Broken
    """


@pytest.fixture
def broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Install a distribution whose plug-ins of every kind raise when they are imported."""
    info = tmp_path / "site" / "broken_plugins-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: broken-plugins\nVersion: 1.0\n")
    kinds = ("chunker", "embedder", "retriever", "dataset", "measure")
    (info / "entry_points.txt").write_text("".join(textwrap.dedent(BROKEN.format(kind=kind)) for kind in kinds))
    (info.parent / "broken_plugins.py").write_text("raise RuntimeError('not today')\n")
    monkeypatch.syspath_prepend(str(info.parent))
    return info.parent


def test_a_broken_plugin_breaks_no_command_that_does_not_use_it(broken: Path, tmp_path: Path) -> None:
    """Lists show it with the reason; measuring, chunking and auditing go on; using it is one line."""
    (tmp_path / "a.py").write_bytes(SOURCE.data)
    environment = {**os.environ, "PYTHONPATH": f"{broken}{os.pathsep}{ROOT}"}

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "scripts", *arguments]
        return subprocess.run(command, check=False, capture_output=True, text=True, cwd=tmp_path, env=environment)

    for kind in ("chunkers", "embedders", "retrievers", "datasets", "measures"):
        done = run("list", kind, "--json")
        assert done.returncode == 0, done.stderr
        rows = {row["name"]: row for row in json.loads(done.stdout)}
        assert "RuntimeError: not today" in rows.pop("broken")["broken"]
        assert not any(row["broken"] for row in rows.values())
    assert "broken: chunker 'broken' cannot be loaded" in " ".join(run("list", "chunkers").stdout.split())
    assert run("chunk", "a.py", "--chunker", "cast").returncode == 0
    script = "from evaluation.measures import parse_measure; print(parse_measure('tokens_to_recall(0.8)').name)"
    done = subprocess.run([sys.executable, "-c", script], check=False, capture_output=True, text=True, env=environment)
    assert done.stdout == "tokens_to_recall(0.8)\n", done.stderr
    used = run("chunk", "a.py", "--chunker", "broken")
    assert (used.returncode, used.stderr.count("\n")) == (2, 1)


@pytest.mark.parametrize("kind", ["chunkers", "embedders", "retrievers", "datasets", "measures"])
def test_lists_have_parameters_with_their_defaults(chunkbench: Command, kind: str) -> None:
    """Every kind shows what a spec may say, and a parameter without a default is marked."""
    rows = {row["name"]: row for row in chunkbench("list", kind, "--json").json}
    expected: dict[str, tuple[str, dict[str, str | None]]] = {
        "chunkers": ("cast", {"name": "size", "type": "int", "default": "2000"}),
        "embedders": ("st", {"name": "model", "type": "str", "default": None}),
        "retrievers": ("dense", {"name": "index", "type": "flat | hnsw | ivf", "default": "flat"}),
        "datasets": ("mined", {"name": "root", "type": "str", "default": None}),
        "measures": ("ndcg@k", {"name": "cutoff", "type": "int", "default": "none"}),
    }
    name, parameter = expected[kind]
    assert parameter in rows[name]["parameters"]
    assert f"{parameter['name']}=" in chunkbench("list", kind).out


MEASURE = """
    from dataclasses import dataclass
    from typing import ClassVar

    import numpy as np

    from evaluation.measures.batch import Batch
    from evaluation.measures.measure import RankedMeasure


    @dataclass(frozen=True, kw_only=True)
    class Top(RankedMeasure):
        label: ClassVar[str] = "LABEL"
        pattern: ClassVar[str] = "LABEL@k"
        definition: ClassVar[str] = "number of relevant results among the first k"
        citation: ClassVar[str] = "none"
        range: ClassVar[tuple[float, float]] = (0.0, float("inf"))

        def score(self, batch: Batch) -> np.ndarray:
            return (batch.gains[:, : self.cutoff] > 0).sum(axis=1).astype(float)
    """


def test_a_measure_of_a_file_has_its_own_name(tmp_path: Path) -> None:
    """It is made from its spec and named by its label; the label of a registered measure is refused."""
    (tmp_path / "own.py").write_text(textwrap.dedent(MEASURE.replace("LABEL", "top")))
    measure = parse_measure(f"{tmp_path}/own.py:Top,cutoff=5")
    assert measure.name == "top@5"
    assert replace(measure) == measure
    (tmp_path / "taken.py").write_text(textwrap.dedent(MEASURE.replace("LABEL", "ndcg")))
    with pytest.raises(UsageError, match="give it a label of its own"):
        parse_measure(f"{tmp_path}/taken.py:Top,cutoff=5")


def test_a_level_is_of_the_measure_that_has_the_name_now(tmp_path: Path) -> None:
    """A measure of one's own on text has levels too, by its file and by its name; a redefined one has new ones."""
    source = """
        from dataclasses import dataclass
        from typing import ClassVar

        from evaluation.measures.budget_recall import BudgetRecall


        @dataclass(frozen=True, kw_only=True)
        class Seen(BudgetRecall):
            label: ClassVar[str] = "seen"
            template: ClassVar[str] = "WORDS"
    """
    for words in ("gold that was seen", "what was seen of the gold"):
        (tmp_path / "Own.py").write_text(textwrap.dedent(source.replace("WORDS", words)))
        spec = f"{tmp_path}/Own.py:Seen,budget=50"
        measure = parse_measure(spec)
        remember_measure(measure)
        for name in ("Chance(seen@50tok)", f"chance({spec})"):
            level = parse_measure(name)
            assert (level.name, level.parts) == ("chance(seen@50tok)", (measure,))
            assert words in level.words
        assert [facts.name for facts in own_facts([measure, level, parse_measure("chance(naurc@50tok)")])] == [
            "seen@50tok",
            "chance(seen@50tok)",
        ]
    for nested in ("chance(ceiling(ndcg@5))", "chance(" * 5000 + ")" * 5000):
        with pytest.raises(UsageError, match="around a measure itself"):
            parse_measure(nested)


@pytest.mark.parametrize("package", [chunkers, indexing, ground_truth])
def test_packages_have_doors(package: ModuleType) -> None:
    """Every name that a package offers is there, and no other."""
    for name in package.__all__:
        assert getattr(package, name) is not None
    with pytest.raises(AttributeError, match="has no attribute 'nothing_like_this'"):
        package.nothing_like_this  # noqa: B018 - the access is the test


def test_doors_cost_nothing_until_they_are_opened() -> None:
    """Importing the packages and the front door imports no numpy, no parser and no model."""
    script = (
        "import chunkbench, chunkers, indexing, ground_truth, sys;"
        "print([name for name in ('numpy', 'tree_sitter', 'torch', 'faiss', 'pydantic') if name in sys.modules])"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True, env=environment)
    assert done.stdout == "[]\n"
