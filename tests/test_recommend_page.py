"""What a recommendation leaves to look at and to paste: a page that requests nothing, and calls that do as they say."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest

import chunkbench as cb
from chunkers.tokens import encoding
from evaluation.recommend.page import recommendation_page
from evaluation.recommend.paste import Code, snippets
from evaluation.recommend.types import CandidateRecord, Cost, Finalist, Recommendation, RoundFacts
from evaluation.statistics import Interval

SOURCE = Path(__file__).parent.parent / "evaluation" / "recommend" / "field.py"
PYTHON = Code("python", 1.4)


def _run(spec: str, library: str) -> list[str]:
    """Run a library's snippet on a file and return its chunks."""
    found = {each.title: each.code for each in snippets(spec, PYTHON)}
    scope: dict[str, Any] = {"code": SOURCE.read_text()}
    exec(found[library], scope)  # noqa: S102 - our own snippet
    chunks: list[str] = scope["chunks"]
    return chunks


def _dense(text: str) -> str:
    return re.sub(r"\s", "", text)


def test_astchunk_cuts_as_cast_does() -> None:
    """The pasted call gives the same chunks, whitespace aside."""
    pytest.importorskip("astchunk")
    ours = [_dense(chunk.text) for chunk in cb.chunk(SOURCE, "cast:size=900")]
    assert [_dense(text) for text in _run("cast:size=900", "astchunk")] == ours


def test_astchunk_loses_a_long_docstring_and_the_note_says_so() -> None:
    """A node without children that is longer than the size is printed without its text."""
    pytest.importorskip("astchunk")
    (found,) = [each for each in snippets("cast:size=100", PYTHON) if each.title == "astchunk"]
    scope: dict[str, Any] = {"code": '"""' + "many words here " * 40 + '"""\nx = 1\n'}
    exec(found.code, scope)  # noqa: S102 - our own snippet
    assert "many words" not in "".join(scope["chunks"])
    assert "loses its text" in found.note


def test_langchain_cuts_tokens_as_fixed_tokens_does() -> None:
    """The pasted call gives the same chunks."""
    pytest.importorskip("langchain_text_splitters")
    encoding("cl100k_base")  # tiktoken has it from here on, and looks for it nowhere
    spec = "fixed-tokens:tokens=200,overlap=20"
    assert _run(spec, "langchain") == [chunk.text for chunk in cb.chunk(SOURCE, spec)]


def test_langchain_is_close_to_recursive_and_says_so() -> None:
    """About as many chunks, by a size that counts whitespace too."""
    pytest.importorskip("langchain_text_splitters")
    ours = cb.chunk(SOURCE, "recursive:size=900")
    assert 0.6 < len(_run("recursive:size=900", "langchain")) / len(ours) < 1.7
    (note,) = [each.note for each in snippets("recursive:size=900", PYTHON) if each.title == "langchain"]
    assert note.startswith("close")


@pytest.mark.parametrize(
    "spec", ["chonkie:size=900", "langchain:size=900,overlap=50", "astchunk:size=900", "llama-index:size=900"]
)
def test_a_library_that_is_recommended_itself_is_called_as_it_was_measured(spec: str) -> None:
    """The same chunks as the adapter's, whitespace at their ends aside."""
    name = spec.partition(":")[0]
    modules = {"langchain": "langchain_text_splitters", "llama-index": "llama_index.core.node_parser"}
    pytest.importorskip(modules.get(name, name))
    assert [_dense(text) for text in _run(spec, name)] == [_dense(chunk.text) for chunk in cb.chunk(SOURCE, spec)]


def test_what_no_library_has_is_not_claimed() -> None:
    """Chunkers of this project alone, other languages and chunkers of the user's own have no library call."""
    assert {each.title for each in snippets("fixed-lines:lines=20", PYTHON)} == {"command line", "Python"}
    assert {each.title for each in snippets("cast:size=900", Code("go", 1.4))} == {"command line", "Python"}
    assert {each.title for each in snippets("mine:Own", PYTHON)} == {"command line", "Python"}
    (note,) = [each.note for each in snippets("cast:size=900,header=path", PYTHON) if each.title == "astchunk"]
    assert "without the header" in note


def _code_of(spec: str, title: str, code: Code = PYTHON) -> str:
    """Return the call of one library; nothing where there is none."""
    return "".join(each.code for each in snippets(spec, code) if each.title == title)


def test_calls_have_the_parameters_of_the_chunker() -> None:
    """Its size in the library's unit, its overlap where it has one, and the language of the code."""
    assert "chunkify(code)" in _code_of("astchunk:size=900", "astchunk")
    assert "chunkify(code, chunk_overlap=2)" in _code_of("astchunk:size=900,overlap=2", "astchunk")
    assert "chunk_size=1260, chunk_overlap=0" in _code_of("recursive:size=900", "langchain")
    assert "Language.GO, " in _code_of("recursive:size=900", "langchain", Code("go", 1.4))
    assert 'max_chunk_size=900, language="java"' in _code_of("cast:size=900", "astchunk", Code("java", 1.4))
    for spec, title in (("cast:size=900", "astchunk"), ("recursive:size=900", "langchain")):
        assert _code_of(spec, title, Code(None, 1.4)) == ""
    assert _code_of("cast:size=900,expansion=true", "astchunk") == "", "its header would be lost"
    assert "TokenTextSplitter" in _code_of("fixed-tokens:tokens=200", "langchain")
    assert _code_of("fixed-tokens:tokens=200,offset=5", "langchain") == "", "no library begins inside"
    (plain,) = [each.note for each in snippets("recursive:size=900", PYTHON) if each.title == "langchain"]
    assert "header" not in plain


@pytest.mark.parametrize(("spec", "title"), [("chonkie:size=900", "chonkie"), ("llama-index:size=900", "llama-index")])
def test_a_library_that_needs_a_language_is_called_with_one(spec: str, title: str) -> None:
    """Or not at all."""
    pytest.importorskip({"chonkie": "chonkie", "llama-index": "llama_index.core.node_parser"}[title])
    assert 'language="go"' in _code_of(spec, title, Code("go", 1.4))
    assert _code_of(spec, title, Code(None, 1.4)) == ""


def _made(name: str) -> Recommendation:
    mean = Interval(0.5, 0.4, 0.6, "t over repositories", 10)
    cost = Cost(chunks=10, mean_nws=500.0, tokens=1000)
    records = (
        CandidateRecord(name, name, "finalist", name, 10, 500.0, 1000, 9, 2, (mean, mean)),
        CandidateRecord("b", "b", "behind", f"behind {name}", 20, 300.0, 900, 9, 1, (mean,), True, 0.1, 0.1, name),
    )
    return Recommendation(
        dataset=name,
        measure="naurc@4000tok",
        embedder="",
        retriever="bm25",
        seed=0,
        margin=0.02,
        recommended=name,
        leader=name,
        may_be_best=(name,),
        risk=0.1,
        loss=0.05,
        finalists=(Finalist(name, mean, 0.5, may_be_best=True, risk=0.1, final_risk=0.0, cost=cost, same=False),),
        candidates=records,
        rounds=(RoundFacts(2, 5, 1, 3, 0.2), RoundFacts(1, 10, 1, 9, 1.0)),
        embedded_texts=5,
        grid_texts=18,
        seconds=1.0,
        price=None,
        current=None,
        detectable=None,
        caveats=(),
        mined=False,
        history=False,
        limited=False,
        uncut="",
        repositories=1,
        queries=15,
        docstring_queries=0,
        failed={},
        code=PYTHON,
    )


def test_the_page_escapes_and_requests_nothing() -> None:
    """Names from outside are text, the policy is closed, and nothing is loaded from anywhere."""
    page = recommendation_page(_made('<img src=x onerror="alert(1)">'))
    assert "<img" not in page
    assert "default-src &#39;none&#39;" in page
    assert not re.search(r"(?:src|href)=[\"']?(?:https?:)?//", page)
    for part in ("Score against size", "Score against chunks", "Who left when, and why", "To paste"):
        assert part in page


def test_a_spec_is_one_word_of_the_shell() -> None:
    """Whatever its path has in it."""
    (line, *_) = snippets("my dir/own.py:Half,size=3", PYTHON)
    assert shlex.split(line.code)[-2:] == ["--chunker", "my dir/own.py:Half,size=3"]
