"""`chunkbench score`: JSON, CSV and table, equal to pytrec_eval, blind to ids, exact about bad input."""

from __future__ import annotations

import csv
import io
import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import pytrec_eval
from click.testing import CliRunner

from chunkers.errors import UsageError
from scripts.score import command

QRELS = "q1 0 a 1\nq1 0 b 2\nq2 0 c 1\nq3 0 d 0\n"
RUN = "q1 Q0 x 1 3 t\nq1 Q0 b 2 2 t\nq1 Q0 a 3 1 t\nq9 Q0 a 1 1 t\n"


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """Return the options that name a small pair of files."""
    (tmp_path / "qrels").write_text(QRELS)
    (tmp_path / "run").write_text(RUN)
    return ["--qrels", str(tmp_path / "qrels"), "--run", str(tmp_path / "run")]


def run_json(arguments: list[str]) -> dict[str, Any]:
    """Return what the command prints as JSON."""
    done = CliRunner().invoke(command, [*arguments, "--json"], catch_exceptions=False)
    assert done.exit_code == 0
    record: dict[str, Any] = json.loads(done.stdout)
    return record


def test_json_has_means_queries_and_counts(files: list[str]) -> None:
    """A judged query that the run lacks scores 0 and is counted; one that is not judged is left out and told."""
    record = run_json([*files, "-m", "nDCG@5", "-m", "precision@2(rel>=2)", "mrr,map"])
    assert list(record["mean"]) == ["nDCG@5", "precision@2(rel>=2)", "mrr", "map"]
    assert record["measures"]["nDCG@5"] == "ndcg@5"
    assert record["per_query"]["q1"]["mrr"] == 0.5
    assert record["per_query"]["q1"]["precision@2(rel>=2)"] == 0.5
    assert record["per_query"]["q2"]["mrr"] == 0
    assert record["mean"]["mrr"] == pytest.approx(0.5 / 3)
    assert [record[key] for key in ("n_total", "n_missing", "n_uncovered", "n_unjudged")] == [3, 2, 1, 1]
    assert record["summary"]["mrr"]["n_scored"] == 3


def test_csv_has_a_row_per_query_and_one_for_all(files: list[str]) -> None:
    """The last row is the mean."""
    done = CliRunner().invoke(command, [*files, "--csv", "-m", "mrr", "-m", "hit@1"], catch_exceptions=False)
    rows = list(csv.reader(io.StringIO(done.stdout)))
    assert rows[0] == ["query", "mrr", "hit@1"]
    assert rows[1] == ["q1", "0.5", "0.0"]
    assert rows[-1][0] == "all"


def test_a_name_that_looks_like_a_formula_is_a_text(tmp_path: Path) -> None:
    """In the CSV of a TREC run and in that of a span run."""
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "a.py").write_text("a = 1\n")
    gold = {"query_id": "=q", "query": "a", "file": "a.py", "start_line": 1, "end_line": 1}
    (tmp_path / "gold.jsonl").write_text(json.dumps(gold) + "\n")
    place = {"query_id": "=q", "run": "=cmd()", "rank": 1, "file": "a.py", "start_line": 1, "end_line": 1}
    (tmp_path / "run.jsonl").write_text(json.dumps(place) + "\n")
    (tmp_path / "qrels").write_text("=q 0 d 1\n")
    (tmp_path / "run").write_text("=q Q0 d 1 2 t\n")
    dataset = f"annotations:path={tmp_path / 'gold.jsonl'},root={tmp_path / 'code'}"
    spans = ["--spans", str(tmp_path / "run.jsonl"), "--dataset", dataset, "-m", "file_rr", "--csv"]
    trec = ["--qrels", str(tmp_path / "qrels"), "--run", str(tmp_path / "run"), "-m", "mrr", "--csv"]
    for options, names in ((spans, ["'=cmd()", "'=q"]), (trec, ["'=q"])):
        done = CliRunner().invoke(command, options, catch_exceptions=False)
        assert list(csv.reader(io.StringIO(done.stdout)))[1][:-1] == names
    with pytest.raises(UsageError, match="--weight is about repositories"):
        CliRunner().invoke(command, [*trec, "--weight", "query"], catch_exceptions=False)


def test_the_table_shows_the_default_measures(files: list[str]) -> None:
    """Without measures the usual ones are shown."""
    done = CliRunner().invoke(command, [*files, "--per-query"], catch_exceptions=False)
    assert done.exit_code == 0
    assert "ndcg@10" in done.stdout
    assert "2 missing from the run" in done.stdout


def test_scores_equal_pytrec_eval_and_ignore_the_spelling_of_ids(tmp_path: Path) -> None:
    """On an untied run the values are pytrec_eval's; with ties, renaming every document changes nothing."""
    rng = random.Random(11)
    documents = [f"d{i}" for i in range(30)]
    spelled = dict(zip(documents, rng.sample(documents, 30), strict=True))
    qrels = {f"q{i}": {d: rng.randint(0, 2) for d in rng.sample(documents, 6)} for i in range(40)}
    untied = {q: dict(zip(rng.sample(documents, 12), range(100, 88, -1), strict=True)) for q in qrels}
    theirs = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg_cut_5", "map"}).evaluate(untied)
    tied = {q: {d: score // 4 for d, score in row.items()} for q, row in untied.items()}
    for number, names in enumerate([{d: d for d in documents}, spelled]):
        for kind, rows in (("untied", untied), ("tied", tied)):
            lines = [f"{q} Q0 {names[d]} {i} {s} t" for q, row in rows.items() for i, (d, s) in enumerate(row.items())]
            (tmp_path / f"{kind}{number}").write_text("\n".join(lines))
        lines = [f"{q} 0 {names[d]} {g}" for q, row in qrels.items() for d, g in row.items()]
        (tmp_path / f"qrels{number}").write_text("\n".join(lines))

    def scored(kind: str, number: int) -> dict[str, Any]:
        where = ["--qrels", str(tmp_path / f"qrels{number}"), "--run", str(tmp_path / f"{kind}{number}")]
        found: dict[str, Any] = run_json([*where, "-m", "ndcg@5", "-m", "map"])["per_query"]
        return found

    for query, row in scored("untied", 0).items():
        assert row["ndcg@5"] == pytest.approx(theirs[query]["ndcg_cut_5"], abs=1e-9)
        assert row["map"] == pytest.approx(theirs[query]["map"], abs=1e-9)
    assert scored("tied", 0) == scored("tied", 1)


@pytest.mark.parametrize(
    ("measure", "told"),
    [
        ("recall@4000tok", "needs text"),
        ("ild@5", "needs vectors"),
        ("rbo", "--reference RUN"),
        ("chance(ndcg@5)", "needs space"),
        ("ndgc@5", "Did you mean"),
    ],
)
def test_measures_that_files_cannot_serve_are_refused(files: list[str], measure: str, told: str) -> None:
    """A measure that needs more than ids says what it needs."""
    with pytest.raises(UsageError, match=told):
        CliRunner().invoke(command, [*files, "-m", measure], catch_exceptions=False)


def test_bad_input_ends_with_one_line_and_code_2(tmp_path: Path) -> None:
    """The command prints file and row on stderr, nothing on stdout, and exits with 2."""
    (tmp_path / "qrels").write_text(QRELS)
    (tmp_path / "run").write_text("q1 Q0 a 1 1 t\nq1 Q0 b 2 NaN t\n")
    where = ["--qrels", str(tmp_path / "qrels"), "--run", str(tmp_path / "run")]
    done = subprocess.run(
        [sys.executable, "-m", "scripts", "score", *where], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert "run:2: the score is 'NaN'" in done.stderr


def test_a_reference_run_gives_rank_correlations(files: list[str], tmp_path: Path) -> None:
    """Kendall's tau and RBO against another run; a judged query without a reference ranking is named."""
    (tmp_path / "qrels").write_text("q1 0 a 1\n")
    (tmp_path / "other").write_text("q1 Q0 b 1 3 t\nq1 Q0 x 2 2 t\nq1 Q0 a 3 1 t\n")
    record = run_json([*files, "--reference", str(tmp_path / "other"), "-m", "kendall_tau", "-m", "rbo", "-m", "mrr"])
    assert record["mean"]["kendall_tau"] == pytest.approx(1 / 3)
    assert 0 < record["mean"]["rbo"] < 1
    assert record["mean"]["mrr"] == pytest.approx(1 / 3)
    (tmp_path / "qrels").write_text(QRELS)
    with pytest.raises(UsageError, match="has no ranking for query 'q2'"):
        run_json([*files, "--reference", str(tmp_path / "other"), "-m", "rbo"])


def test_cutoffs_add_the_usual_measures(files: list[str]) -> None:
    """-k 2 -k 3 asks for what an experiment measures at these cutoffs, beside what -m names."""
    at_each = [f"{name}@{k}" for name in ("ndcg", "precision", "recall", "hit") for k in (2, 3)]
    assert list(run_json([*files, "-k", "2", "-k", "3"])["mean"]) == [*at_each, "mrr@3", "map@3"]
    assert list(run_json([*files, "-m", "mrr", "-k", "2"])["mean"])[:2] == ["mrr", "ndcg@2"]


def test_limit_takes_the_first_judged_queries(files: list[str]) -> None:
    """The order of the qrels file decides, and counts are of what was kept."""
    record = run_json([*files, "--limit", "2", "-m", "mrr"])
    assert list(record["per_query"]) == ["q1", "q2"]
    assert (record["n_total"], record["n_missing"], record["n_uncovered"]) == (2, 1, 0)


def test_quiet_prints_scores_only_and_verbose_names_queries(files: list[str]) -> None:
    """Remarks go to stderr; --quiet has none, --verbose names each query."""
    plain, quiet, verbose = (
        CliRunner().invoke(command, [*files, "-m", "mrr", *option], catch_exceptions=False)
        for option in ([], ["--quiet"], ["--verbose"])
    )
    assert "left out: 1" in plain.stderr
    assert "judged queries" in plain.stdout
    assert quiet.stderr == ""
    assert "judged queries" not in quiet.stdout
    assert "q9: not judged, left out" in verbose.stderr
    assert "q2: missing from the run, scored 0" in verbose.stderr
    with pytest.raises(UsageError, match="exclude each other"):
        CliRunner().invoke(command, [*files, "--quiet", "--verbose"], catch_exceptions=False)
