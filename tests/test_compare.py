"""`chunkbench compare`, end to end and offline."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
import pytrec_eval
from conftest import Command

from evaluation.results.types import CellRecord
from evaluation.trec import read_qrels, read_run
from evaluation.types import CellKey

QUICK = ("--embedder", "hashing", "--retriever", "dense", "--engine", "serial")
TWO = ("--chunker", "fixed-lines:lines=5", "--chunker", "cast:size=120")


def arguments(repository: Path, out: Path) -> tuple[object, ...]:
    """Return a small comparison on annotated code."""
    return ("compare", repository, "--annotations", repository.parent / "gold.jsonl", *QUICK, *TWO, "--out", out)


@pytest.fixture
def compared(chunkbench: Command, repository: Path, tmp_path: Path) -> Path:
    """Return the results folder of a small comparison."""
    result = chunkbench(*arguments(repository, tmp_path / "out"))
    assert result.code == 0, result.err
    return tmp_path / "out"


def test_results_hold_to_their_contract(compared: Path) -> None:
    """results.json has every key that other tools rely on."""
    found = json.loads((compared / "results.json").read_text())
    assert found["version"] == 1
    assert {"name", "fingerprint", "queries", "repositories"} <= found["dataset"].keys()
    assert found["dataset"]["queries"] == 16
    for cell in found["cells"]:
        assert {"dataset", "chunker", "embedder", "retriever", "status", "reason", "seconds"} <= cell.keys()
        assert cell["status"] == "ok"
        assert {"count", "mean_nws", "p95_nws", "uncovered_queries", "relevant_per_query"} <= cell["chunks"].keys()
        for value in cell["measures"].values():
            assert value["low"] <= value["mean"] <= value["high"]
    assert {row["measure"] for row in found["comparisons"]} == set(found["config"]["measures"])
    for name in ("summary.md", "report.html", "scores.parquet"):
        assert (compared / name).stat().st_size > 0


def test_scores_agree_with_trec_eval_on_the_written_files(compared: Path) -> None:
    """The run and qrels files give, through bare pytrec_eval, the means that the results report."""
    found = json.loads((compared / "results.json").read_text())
    for cell in found["cells"]:
        slug = CellRecord(CellKey(*(cell[name] for name in CellKey._fields)), "ok").slug
        qrels = read_qrels(compared / "qrels" / f"{slug}.qrels")
        run = read_run(compared / "runs" / f"{slug}.run")
        scored = {query: {doc: 1.0 / rank for rank, doc in enumerate(ids, 1)} for query, ids in run.items()}
        judged = {query: {doc: int(grade) for doc, grade in row.items()} for query, row in qrels.items()}
        values = pytrec_eval.RelevanceEvaluator(judged, {"ndcg_cut.5", "recall.10"}).evaluate(scored)
        for ours, theirs in (("ndcg@5", "ndcg_cut_5"), ("recall@10", "recall_10")):
            mean = sum(row[theirs] for row in values.values()) / found["dataset"]["queries"]
            assert cell["measures"][ours]["mean"] == pytest.approx(mean, abs=1e-9)


def test_per_query_scores_average_to_the_means(compared: Path) -> None:
    """scores.parquet holds one row per cell, query and measure."""
    found = json.loads((compared / "results.json").read_text())
    rows = pq.read_table(compared / "scores.parquet").to_pylist()
    assert len(rows) == 16 * len(found["config"]["measures"]) * 2
    for cell in found["cells"]:
        values = [
            row["value"] for row in rows if row["chunker"] == cell["chunker"] and row["measure"] == "naurc@4000tok"
        ]
        assert sum(values) / 16 == pytest.approx(cell["measures"]["naurc@4000tok"]["mean"], abs=1e-12)


def test_a_second_run_says_the_same(chunkbench: Command, repository: Path, tmp_path: Path, compared: Path) -> None:
    """The cached run, and one from an empty cache, give the numbers of the first."""
    first = json.loads((compared / "results.json").read_text())
    again = chunkbench(*arguments(repository, compared), "--json").json
    shutil.rmtree(tmp_path / "cache")
    cold = chunkbench(*arguments(repository, tmp_path / "cold"), "--json").json
    for other in (again, cold):
        assert [cell["measures"] for cell in other["cells"]] == [cell["measures"] for cell in first["cells"]]
        assert other["comparisons"] == first["comparisons"]


def test_all_engines_agree(chunkbench: Command, repository: Path, tmp_path: Path, compared: Path) -> None:
    """Local processes give the scores that one process gives."""
    gold = repository.parent / "gold.jsonl"
    other = chunkbench(
        *("compare", repository, "--annotations", gold, *QUICK[:4], "--jobs", "2", *TWO),
        *("--out", tmp_path / "other"),
    )
    assert other.code == 0, other.err
    key = ("chunker", "query_id", "measure", "value")
    serial, parallel = (
        sorted(tuple(row[name] for name in key) for row in pq.read_table(folder / "scores.parquet").to_pylist())
        for folder in (compared, tmp_path / "other")
    )
    assert serial == parallel


def test_gold_that_no_chunk_holds_scores_zero_and_is_counted(
    chunkbench: Command, repository: Path, tmp_path: Path
) -> None:
    """A query whose gold is a blank line has no relevant chunk: it counts as 0, not as missing."""
    gold = repository.parent / "gold.jsonl"
    first, *rest = gold.read_text().splitlines()
    blank = {**json.loads(first), "start_line": 4, "end_line": 4}
    gold.write_text("\n".join([json.dumps(blank), *rest]) + "\n")
    result = chunkbench(*arguments(repository, tmp_path / "out"), "--json")
    assert result.code == 0
    for cell in result.json["cells"]:
        assert cell["chunks"]["uncovered_queries"] == 1
        assert cell["measures"]["ndcg@5"]["scored"] == 16


def test_a_repository_without_labels_is_mined(chunkbench: Command, tmp_path: Path) -> None:
    """One command answers for plain code, and says that its queries are mined."""
    (tmp_path / "post").mkdir()
    (tmp_path / "post" / "parcels.py").write_text(
        "def weigh_parcel(parcel, scale):\n"
        '    """Return the weight of a parcel in grams, as the scale shows it."""\n'
        "    scale.reset()\n    scale.load(parcel)\n    return scale.read()\n\n\n"
        "def send_parcel(parcel, address):\n"
        '    """Send the parcel to an address after checking that it exists."""\n'
        "    if not address.exists():\n        raise ValueError(address)\n"
        "    address.accept(parcel)\n    return parcel\n"
    )
    result = chunkbench("compare", tmp_path / "post", *QUICK, *TWO, "--out", tmp_path / "out", "--json")
    assert result.code == 0, result.err
    assert result.json["dataset"]["queries"] == 2
    assert result.json["dataset"]["mined"]
    assert "mined" in (tmp_path / "out" / "report.html").read_text()


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        (("--chunker", "casst"), "Did you mean 'cast'"),
        (("--chunker", "cast:sise=3"), "Did you mean 'size'"),
        (("--chunker", "cast:size=-1"), "size must be above 0"),
        (("--measure", "ndgc@5"), "Did you mean"),
        (("--rule", "anny"), "Did you mean 'any'"),
        (("--engine", "rey"), "unknown engine"),
        (("--depth", "100", "--measure", "recall@200"), "depth is 100: write depth = 200"),
        (("--embedder", "nothing-like-this"), "unknown embedder"),
        (("--chunker", "cast", "--chunker", "cast:size=2000"), "cast and cast:size=2000 are the same chunker"),
    ],
)
def test_a_wrong_option_is_one_line_and_exit_2(
    chunkbench: Command, repository: Path, tmp_path: Path, extra: tuple[str, ...], message: str
) -> None:
    """Nothing is written when an option is wrong."""
    result = chunkbench(*arguments(repository, tmp_path / "out"), *extra)
    assert result.code == 2
    assert message in result.err
    assert result.err.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_bad_annotations_are_named_by_row(chunkbench: Command, repository: Path, tmp_path: Path) -> None:
    """A missing file, lines outside it and broken JSON each name the file and the row."""
    gold = repository.parent / "gold.jsonl"
    good = gold.read_text().splitlines()
    row = json.loads(good[0])
    for bad in ({**row, "file": "nowhere.py"}, {**row, "end_line": 999}, {**row, "relevance": -1}):
        gold.write_text("\n".join([*good[1:], json.dumps(bad)]) + "\n")
        result = chunkbench(*arguments(repository, tmp_path / "out"))
        assert result.code == 2, bad
        assert "gold.jsonl:16" in result.err
    gold.write_text("\n".join([*good, "{"]) + "\n")
    result = chunkbench(*arguments(repository, tmp_path / "out"))
    assert result.code == 2
    assert "gold.jsonl:17" in result.err
    assert not (tmp_path / "out").exists()


def test_an_empty_folder_is_refused(chunkbench: Command, tmp_path: Path) -> None:
    """There is nothing to compare on."""
    (tmp_path / "empty").mkdir()
    result = chunkbench("compare", tmp_path / "empty", *QUICK, "--out", tmp_path / "out")
    assert result.code == 2
    assert result.err.count("\n") == 1


def test_the_results_of_another_experiment_are_not_overwritten(
    chunkbench: Command, repository: Path, compared: Path
) -> None:
    """An output folder that holds another run is refused, and stays as it was."""
    before = (compared / "results.json").read_bytes()
    result = chunkbench(*arguments(repository, compared), "--seed", "7")
    assert result.code == 2
    assert "another experiment" in result.err
    assert (compared / "results.json").read_bytes() == before


def test_a_place_that_cannot_hold_the_results_is_refused_at_once(
    chunkbench: Command, repository: Path, tmp_path: Path
) -> None:
    """A path below a file, or one that is not text, is an error before any work."""
    (tmp_path / "file").write_text("x")
    for out, why in (
        (tmp_path / "file", "is a file"),
        (tmp_path / "file/below", "is a file"),
        ("o\udcff", "not UTF-8"),
    ):
        result = chunkbench(*arguments(repository, Path(out)))
        assert result.code == 2
        assert why in result.err
        assert result.err.count("\n") == 1


def test_a_cache_that_cannot_be_written_is_refused(
    chunkbench: Command, repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error names the folder and the variable that chooses it; no results of failed cells are left behind."""
    (tmp_path / "file").write_text("x")
    monkeypatch.setenv("CHUNKBENCH_CACHE", str(tmp_path / "file"))
    result = chunkbench(*arguments(repository, tmp_path / "out"))
    assert result.code == 2
    assert f"{tmp_path / 'file'} cannot hold the cache" in result.err
    assert result.err.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_sizes_are_matched_and_said(chunkbench: Command, tmp_path: Path) -> None:
    """--match-size chooses limits whose mean chunk sizes agree, and says which."""
    names = ("--chunker", "fixed-lines", "--chunker", "cast", "--match-size", "nws=800")
    result = chunkbench(
        "compare", "--dataset", "installed:packages=tqdm,queries=6", *QUICK, *names, "--out", tmp_path / "out", "--json"
    )
    assert result.code == 0, result.err
    assert all(abs(cell["chunks"]["mean_nws"] - 800) <= 16 for cell in result.json["cells"])
    assert all(cell["chunker"] in result.err for cell in result.json["cells"])


def test_thresholds_and_exponential_gains_see_the_grades_as_written(
    chunkbench: Command, repository: Path, tmp_path: Path
) -> None:
    """Fractions are a million times as large in the qrels, which hold whole numbers, but not for the measures."""
    gold = repository.parent / "gold.jsonl"
    rows = [json.loads(line) for line in gold.read_text().splitlines()]
    gold.write_text("".join(json.dumps({**row, "relevance": 2.5 if n else 1.0}) + "\n" for n, row in enumerate(rows)))
    measures = ("--measure", "recall@1000(rel>=2)", "--measure", "recall@1000", "--measure", "ndcg_exp@10")
    result = chunkbench(*arguments(repository, tmp_path / "out"), *measures, "--json")
    assert result.code == 0, result.err
    for cell in result.json["cells"]:
        assert cell["status"] == "ok"
        assert cell["measures"]["recall@1000"]["mean"] == 1
        assert cell["measures"]["recall@1000(rel>=2)"]["mean"] == 15 / 16


def test_a_package_of_the_repositorys_own_name_is_part_of_it(chunkbench: Command, tmp_path: Path) -> None:
    """What is mined in flask, which holds a folder flask, can be compared there."""
    package = tmp_path / "flask" / "flask"
    package.mkdir(parents=True)
    (tmp_path / "flask" / "setup.py").write_text("NAME = 'flask'\n")
    (package / "app.py").write_text(
        "def dispatch_request(request):\n"
        '    """Find the view of a request and return what it answers."""\n'
        "    view = views[request.path]\n    answer = view(request)\n    log(request, answer)\n    return answer\n"
    )
    gold = tmp_path / "gold.jsonl"
    assert chunkbench("mine", tmp_path / "flask", "--out", gold).code == 0
    found = chunkbench(
        *("compare", tmp_path / "flask", "--annotations", gold, *QUICK, "--chunker", "whole-file", "--json"),
        *("--out", tmp_path / "out"),
    )
    assert found.code == 0, found.err
    assert found.json["cells"][0]["chunks"]["count"] == 2


def test_token_f1_compares_chunkers_only_if_insisted_on(chunkbench: Command, repository: Path, tmp_path: Path) -> None:
    """The rule is refused with a remedy; insisted on, results and verdict say what decided relevance."""
    rows = [json.loads(line) for line in (repository.parent / "gold.jsonl").read_text().splitlines()]
    answered = [json.dumps({**row, "expected": row["query"]}) for row in rows]
    (repository.parent / "gold.jsonl").write_text("\n".join(answered) + "\n")
    asked = (*arguments(repository, tmp_path / "out"), "--rule", "token_f1(0.2)")
    refused = chunkbench(*asked)
    assert refused.code == 2
    assert "--insist" in refused.err
    done = chunkbench(*asked, "--insist")
    assert done.code == 0, done.err
    assert "those scores do not compare chunkers" in " ".join(done.out.split())
    for cell in json.loads((tmp_path / "out" / "results.json").read_text())["cells"]:
        assert cell["chunks"]["strategy_used"] == "token-fallback"
        assert cell["chunks"]["strategy_counts"] == {"qrels": 0, "pack": 0, "token-fallback": 16}
        assert cell["chunks"]["exact_matches"] is not None
        spelled = {
            "strategyUsed": "strategy_used",
            "strategyCounts": "strategy_counts",
            "queriesWithRelevant": "queries_with_relevant",
            "exactMatches": "exact_matches",
        }
        assert cell["details"] == {key: cell["chunks"][name] for key, name in spelled.items()}


def test_levels_are_measures_of_an_experiment(chunkbench: Command, repository: Path, tmp_path: Path) -> None:
    """chance, ceiling and normalised are asked for by name, and lie where they must."""
    names = ["naurc@100tok", *(f"{level}(naurc@100tok)" for level in ("chance", "ceiling", "normalised"))]
    asked = [part for name in [*names, "tokens_to_recall(0.5)", "alpha_ndcg@10"] for part in ("--measure", name)]
    done = chunkbench(*arguments(repository, tmp_path / "out"), "--headline", "naurc@100tok", *asked)
    assert done.code == 0, done.err
    scores = pq.read_table(tmp_path / "out" / "scores.parquet").to_pandas()
    wide = scores.pivot_table(index=["chunker", "query_id"], columns="measure", values="value", observed=True)
    assert (wide["chance(naurc@100tok)"] <= wide["ceiling(naurc@100tok)"] + 1e-9).all()
    assert (wide["naurc@100tok"] <= wide["ceiling(naurc@100tok)"] + 1e-9).all()
    room = wide["ceiling(naurc@100tok)"] - wide["chance(naurc@100tok)"]
    expected = (wide["naurc@100tok"] - wide["chance(naurc@100tok)"]) / room
    assert (wide["normalised(naurc@100tok)"] - expected).abs().max() < 1e-9
    found = json.loads((tmp_path / "out" / "results.json").read_text())
    for cell in found["cells"]:
        summary = cell["measures"]["tokens_to_recall(0.5)"]
        assert (summary["mean"], summary["method"]) == (None, "median")
        assert summary["median"] > 0
    assert "tokens_to_recall(0.5)" not in {row["measure"] for row in found["comparisons"]}


def test_any_of_several_answers_suffices(chunkbench: Command, repository: Path, tmp_path: Path) -> None:
    """A second place for every query, as an alternative, never lowers a score; as a further part it may."""
    gold = repository.parent / "gold.jsonl"
    rows = [json.loads(line) for line in gold.read_text().splitlines()]
    names = ["naurc@100tok", "recall@100tok", "ndcg@10", "hit@5", "file_rr"]
    asked = [part for name in names for part in ("--measure", name)]

    def scored(folder: str, notes: list[dict[str, object]]) -> Any:
        gold.write_text("".join(json.dumps(note) + "\n" for note in notes))
        done = chunkbench(*arguments(repository, tmp_path / folder), "--headline", "naurc@100tok", *asked)
        assert done.code == 0, done.err
        keys = ["chunker", "query_id", "measure"]
        return pq.read_table(tmp_path / folder / "scores.parquet").to_pandas().set_index(keys)["value"].sort_index()

    places = rows[1:] + rows[:1]
    further = [
        {**row, **{key: place[key] for key in ("file", "start_line", "end_line")}}
        for row, place in zip(rows, places, strict=True)
    ]
    alone = scored("alone", rows)
    either = scored("either", [*rows, *({**row, "alternative": "other"} for row in further)])
    other = scored("other", further)
    assert (either - np.maximum(alone, other)).abs().max() < 1e-12


def test_alpha_ndcg_does_not_depend_on_other_measures(chunkbench: Command, repository: Path, tmp_path: Path) -> None:
    """Its ideal is over all chunks with gold, so that how deep rankings are kept changes nothing."""
    found = []
    for folder, more in (("one", ()), ("two", ("--measure", "recall@100000tok", "--measure", "split_rate"))):
        asked = ("--measure", "alpha_ndcg@10", "--measure", "naurc@100tok", "--headline", "naurc@100tok", *more)
        done = chunkbench(*arguments(repository, tmp_path / folder), *asked)
        assert done.code == 0, done.err
        scores = pq.read_table(tmp_path / folder / "scores.parquet").to_pandas()
        found.append(scores[scores["measure"] == "alpha_ndcg@10"]["value"].tolist())
    assert found[0] == found[1]
