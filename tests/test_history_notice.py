"""Messages of a night: every form has a text and links, names what moved, and mentions nobody; every exit has one."""

from __future__ import annotations

import functools
import json
import signal
import subprocess
import time
from pathlib import Path
from typing import Any, get_args

import pytest
from conftest import Command
from test_history_gate import KEY, SCORES, STAGES, found, night, record

from evaluation.history.comparison import Night
from evaluation.history.notice import Form, failure_notice, night_notice
from scripts.check.nightly_lab import CHUNKER, Lab
from scripts.nightly import FORMS

HOSTILE = "<!channel> *a* [b](c) `d`"


def _regression() -> Night:
    worse = found(night({KEY: SCORES - 0.1}), night({KEY: SCORES}))
    return Night(record(STAGES), record(STAGES), findings=(worse,))


@pytest.mark.parametrize("form", FORMS)
def test_every_form_names_the_regression_and_links_to_the_report(form: Form) -> None:
    """The text holds the verdict, the chunker, both means and the address of the run's report."""
    message = night_notice(_regression(), form, url="https://ci.example/history/")
    assert "regression: cast in ndcg@10" in message["text"]
    assert "→" in message["text"]
    assert "https://ci.example/history/runs/00001/report.html" in message["text"]
    assert "https://ci.example/history/trend.html" in json.dumps(message)
    json.dumps(message, allow_nan=False)


def test_without_an_address_links_are_relative() -> None:
    """Nothing is made up: a chat gets no link that leads nowhere, a program gets the way from the history folder."""
    assert night_notice(_regression(), "json")["links"]["report"] == "runs/00001/report.html"
    assert "http" not in json.dumps(night_notice(_regression(), "slack"))
    assert night_notice(_regression(), "teams")["attachments"][0]["content"]["actions"] == []


@pytest.mark.parametrize("form", FORMS)
def test_a_night_that_broke_off_says_so_and_mentions_nobody(form: Form) -> None:
    """The reason is text wherever it goes: no mention in Slack, no markup in Teams or GitHub."""
    message = failure_notice(HOSTILE, form, exit_code=2)
    assert "exit 2" in message["text"]
    if form == "slack":
        assert "<!channel>" not in json.dumps(message)
    if form == "teams":
        block = message["attachments"][0]["content"]["body"][1]["text"]
        assert r"\<!channel\> \*a\* \[b\](c) \`d\`" in block
    if form == "github":
        assert f"```\n{HOSTILE}\n```" in message["body"]


def test_a_usage_error_leaves_its_message_and_its_code(chunkbench: Command, tmp_path: Path) -> None:
    """Last night's news is not sent again: the file holds what went wrong tonight."""
    out, file = tmp_path / "night.json", tmp_path / "night.toml"
    out.write_text("old", "utf-8")
    file.write_text('chunkers = ["no-such-chunker"]\n', "utf-8")
    done = chunkbench("nightly", file, "--summary", out, "--notify", "slack")
    assert done.code == 2
    said = json.loads(out.read_text("utf-8"))
    assert "no-such-chunker" in said["text"]
    assert "exit 2" in said["text"]


def test_every_exit_code_leaves_a_message_with_links(tmp_path: Path) -> None:
    """Nights of the real command: a first one, a regression, a chunker that fails, and Ctrl-C in the middle."""
    lab = Lab(tmp_path, queries=60, chunkers=(CHUNKER,))
    lab.set_up("jinja2")
    out = tmp_path / "night.json"
    options = (
        "nightly",
        str(lab.experiment),
        "--engine",
        "serial",
        "--summary",
        str(out),
        "--url",
        "https://ci.example/h",
    )

    def night(form: str, code: int) -> dict[str, Any]:
        assert lab.run(*options, "--notify", form).code == code
        said: dict[str, Any] = json.loads(out.read_text("utf-8"))
        assert "https://ci.example/h/trend.html" in said["text"]
        return said

    assert "first run" in night("github", 0)["text"]
    lab.install("spoiled")
    worse = night("slack", 3)
    assert f"regression: {CHUNKER}" in worse["text"]
    assert "<https://ci.example/h/runs/00002/report.html|report>" in worse["blocks"][0]["text"]["text"]
    lab.install("good")
    lab.configure(chunkers=(CHUNKER, "lab:lines=0"))
    failed = night("json", 1)
    assert "lab:lines=0" in failed["text"]
    assert failed["links"] == {
        "report": "https://ci.example/h/runs/00003/report.html",
        "trend": "https://ci.example/h/trend.html",
    }
    lab.edit(2)
    process = subprocess.Popen(
        lab.command(*options, "--notify", "teams"),
        env=lab.environment(more={"LAB_SECONDS": "600"}),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        # A test run in the background of a shell ignores Ctrl-C, and its children would inherit that.
        preexec_fn=functools.partial(signal.signal, signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509 - no threads here
    )
    while process.poll() is None and not list((lab.history / "runs").glob(".draft-*")):
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=600) == 130
    said = json.loads(out.read_text("utf-8"))
    assert "exit 130" in said["text"]
    assert "interrupted" in said["text"]
    (action,) = said["attachments"][0]["content"]["actions"]
    assert action["url"] == "https://ci.example/h/trend.html"


def test_the_forms_of_the_command_are_those_of_the_message() -> None:
    """They are written out once more for --help, which loads nothing heavy."""
    assert get_args(Form) == FORMS
