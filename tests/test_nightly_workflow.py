"""The workflow that is ready to copy: its steps run as a runner runs them, with a stand-in for GitHub's own command."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from scripts.check.nightly_lab import CHUNKER, Lab

yaml = pytest.importorskip("yaml")
pytestmark = pytest.mark.skipif(not shutil.which("jq"), reason="the steps need jq, which GitHub's runners have")

WORKFLOW = Path(__file__).parents[1] / ".github" / "workflows" / "nightly.yml"
GH = """#!/bin/sh
# Writes down what it was asked; an issue of that title is open once one was created.
printf '%s\\n' "$*" >> "$HOME/gh.log"
case "$*" in
  "issue list"*) cat "$HOME/issues.json" ;;
  "issue create"*) printf '[{"number": 7, "title": "%s"}]' "$4" > "$HOME/issues.json" ;;
esac
"""


def _steps() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = yaml.safe_load(WORKFLOW.read_text("utf-8"))["jobs"]["nightly"]["steps"]
    return found


def _script(name: str, **values: str) -> str:
    """Return a step's commands with the values of its expressions; one that is not given is an error."""
    (step,) = [each for each in _steps() if each.get("name") == name]
    return re.sub(r"\$\{\{ *(.*?) *\}\}", lambda found: values[found[1].replace(".", "_")], step["run"])


class _Runner:
    """A checkout with the experiment file where the workflow expects it."""

    def __init__(self, lab: Lab) -> None:
        self.lab, self.root = lab, lab.clone
        (self.root / ".github").mkdir()
        text = lab.experiment.read_text("utf-8")
        text = text.replace(str(lab.clone), ".").replace("ref=main", "ref=HEAD")
        (self.root / ".github" / "nightly.toml").write_text(text.replace('"history"', '"../chunkbench-history"'))
        bin_ = lab.root / "bin"
        bin_.mkdir()
        self._program(bin_ / "gh", GH)
        self._program(bin_ / "chunkbench", f'#!/bin/sh\nexec {sys.executable} -m scripts "$@"\n')
        (lab.root / "issues.json").write_text("[]", "utf-8")
        self.output, self.summary = lab.root / "output", lab.root / "summary"
        self.environment = {
            **lab.environment(),
            "PATH": f"{bin_}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(lab.root),
            "RUN_URL": "https://ci.example/run/1",
            "GITHUB_OUTPUT": str(self.output),
            "GITHUB_STEP_SUMMARY": str(self.summary),
        }

    @staticmethod
    def _program(file: Path, text: str) -> None:
        file.write_text(text, "utf-8")
        file.chmod(0o755)

    def run(self, script: str) -> int:
        """Run commands as a runner does, which ends at the first that fails."""
        done = subprocess.run(["bash", "-e", "-c", script], cwd=self.root, env=self.environment, check=False)
        return done.returncode

    def asked(self) -> list[str]:
        """Return what GitHub's command was asked."""
        log = self.lab.root / "gh.log"
        return log.read_text("utf-8").splitlines() if log.exists() else []


def test_the_steps_of_the_workflow_do_what_they_say(tmp_path: Path) -> None:
    """The code of the night, its summary, a comment for a pull request, one issue for a regression that stays."""
    lab = Lab(tmp_path, queries=60, chunkers=(CHUNKER,))
    lab.set_up("jinja2")
    runner = _Runner(lab)
    assert runner.run(_script("Night")) == 0
    assert runner.output.read_text("utf-8") == "code=0\n"
    assert "# Run 1: first run" in runner.summary.read_text("utf-8")
    assert "https://ci.example/run/1" in runner.summary.read_text("utf-8")
    assert (lab.clone / "chunkbench-history" / "trend.html").is_file()
    assert runner.run(_script("Comment on the pull request", github_event_pull_request_number="12")) == 0
    assert runner.asked() == ["pr comment 12 --body-file night.md --edit-last --create-if-none"]
    lab.install("spoiled")
    assert runner.run(_script("Night")) == 0
    assert runner.output.read_text("utf-8").splitlines()[-1] == "code=3"
    for _ in range(2):
        assert runner.run(_script("Issue for a regression")) == 0
    verbs = [" ".join(line.split()[:2]) for line in runner.asked()[1:]]
    assert verbs == ["issue list", "issue create", "issue list", "issue comment"]
    assert f"--title chunkbench regression: {CHUNKER}" in runner.asked()[2]
    assert runner.run(_script("Result", steps_night_outputs_code="3")) == 3
    (lab.clone / ".github" / "nightly.toml").write_text('chunkers = ["no-such-chunker"]\n', "utf-8")
    assert runner.run(_script("Night")) == 0
    assert runner.output.read_text("utf-8").splitlines()[-1] == "code=2"
    assert "no-such-chunker" in runner.summary.read_text("utf-8")


def test_the_expressions_of_the_workflow_name_what_exists() -> None:
    """Steps that are named have their id, outputs are written by their step, and what is cached is what is used."""
    text, steps = WORKFLOW.read_text("utf-8"), _steps()
    for step, output in re.findall(r"steps\.(\w+)\.outputs\.(\w+)", text):
        (made,) = [each for each in steps if each.get("id") == step]
        assert f'"{output}=' in made["run"]
    known = (
        r"event_name|workspace|token|server_url|repository|run_id|event\.pull_request\.(number|head\.repo\.full_name)"
    )
    assert [name for name in re.findall(r"github\.([\w.]+)", text) if not re.fullmatch(known, name)] == []
    kept, restored = (each["with"] for each in steps if "actions/cache" in each.get("uses", ""))
    assert kept["path"] == restored["path"]
    history = re.search(r'history = "../(.*)"', (WORKFLOW.parents[1] / "nightly.toml").read_text("utf-8"))
    assert history is not None
    assert history[1] in kept["path"].split()
    assert json.dumps(steps).count('"if": "always()') == 2
