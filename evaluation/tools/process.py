"""A tool as a command: started once in a folder, it reads one query per line and answers each with a line of places."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import shlex
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chunkers.errors import UsageError
from evaluation.tools.answers import read_answer
from evaluation.tools.asking import Question, ToolError

LONGEST_ANSWER = 64_000_000
"""Bytes of one line."""
_FIRST = 10
"""The first answer may take this many times as long as the others: a tool may build its index first."""
_COMPLAINT = 2_000
_PART = 1 << 16
_GRACE = 2.0


@dataclass(frozen=True)
class CommandTool:
    """The user's own program; it is started without a shell."""

    name: str
    command: str
    timeout: float = 60.0
    """Seconds for one answer."""

    def __post_init__(self) -> None:
        try:
            words = shlex.split(self.command)
        except ValueError as error:
            raise UsageError(f"tool {self.name!r}: {self.command!r} is not a command ({error})") from None
        if not words:
            raise UsageError(f"tool {self.name!r} has no command: write --tool 'NAME=PROGRAM ARGUMENTS'")

    @property
    def words(self) -> list[str]:
        """The command's words, with files of the current folder made absolute: the tool runs in its own folder."""
        first, *rest = shlex.split(self.command)
        program = str(Path(first).absolute()) if "/" in first else first
        return [program, *(str(Path(word).absolute()) if Path(word).is_file() else word for word in rest)]

    def _environment(self) -> dict[str, str]:
        """Return the user's environment; Python started with -m or -c imports nothing from the folder."""
        # Otherwise it would import the corpus. A script file has its own folder on the path, and keeps it.
        named = {"-m", "-c"} & set(shlex.split(self.command))
        return {**os.environ, **({"PYTHONSAFEPATH": "1"} if named else {})}

    @contextlib.contextmanager
    def open(self, folder: Path) -> Iterator[Callable[[Question], Sequence[Any]]]:
        """Start the program in the folder and end it afterwards, with everything that it has started."""
        try:
            process = subprocess.Popen(  # noqa: S603 - the user's own command, without a shell
                self.words,
                cwd=folder,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                start_new_session=True,
                env=self._environment(),
            )
        except OSError as error:
            raise ToolError(f"{self.words[0]!r} cannot be started ({error.strerror or error})") from None
        conversation = _Conversation(process, self.timeout)
        try:
            yield conversation.ask
            conversation.finish()
        finally:
            conversation.end()


class _Conversation:
    """Line-based communication with a running program; nothing here waits longer than the time allowed."""

    def __init__(self, process: subprocess.Popen[bytes], timeout: float) -> None:
        self._process, self._timeout = process, timeout
        self._asked = 0
        self._output = bytearray()
        self._complaint = bytearray()
        for stream in (process.stdin, process.stdout, process.stderr):
            assert stream is not None  # noqa: S101 - all three are pipes
            os.set_blocking(stream.fileno(), False)

    def ask(self, question: Question) -> Sequence[Any]:
        """Return the places of one answer; raise if the program times out, exits, or writes invalid output."""
        self._asked += 1
        if self._output:
            raise self._unasked()
        allowed = self._timeout * (_FIRST if self._asked == 1 else 1)
        line = self._exchange(json.dumps(question._asdict()).encode() + b"\n", question, allowed)
        return read_answer(line, question.query_id)

    def _exchange(self, message: bytes, question: Question, allowed: float) -> bytes:
        deadline = time.monotonic() + allowed
        stdin, stdout, stderr = self._process.stdin, self._process.stdout, self._process.stderr
        assert stdin is not None and stdout is not None and stderr is not None  # noqa: S101, PT018 - all are pipes
        seen = 0
        with selectors.DefaultSelector() as ready:
            ready.register(stdin, selectors.EVENT_WRITE)
            ready.register(stdout, selectors.EVENT_READ)
            if not stderr.closed:
                ready.register(stderr, selectors.EVENT_READ)
            while True:
                end = self._output.find(b"\n", seen)
                if end >= 0 and message:
                    raise self._unasked()
                if end >= 0:
                    line = bytes(self._output[:end])
                    del self._output[: end + 1]
                    return line
                seen = len(self._output)
                if seen > LONGEST_ANSWER:
                    raise ToolError(f"query {question.query_id!r}: an answer of more than {LONGEST_ANSWER:,} bytes")
                left = deadline - time.monotonic()
                if left <= 0:
                    raise ToolError(f"query {question.query_id!r}: no answer within {allowed:g} seconds")
                for key, _ in ready.select(left):
                    if key.fileobj is stdin:
                        message = self._send(message, question)
                        if not message:
                            ready.unregister(stdin)
                    elif key.fileobj is stdout:
                        part = stdout.read(_PART)
                        if part == b"":
                            raise self._ended(question)
                        self._output += part or b""
                    else:
                        part = stderr.read(_PART)
                        if part == b"":
                            ready.unregister(stderr)
                            stderr.close()
                        self._complaint = (self._complaint + (part or b""))[-_COMPLAINT:]

    def finish(self) -> None:
        """Close the program's input; raise if it has written more than one line per question.

        An extra line, whenever it came, has shifted the answers: one of them is left at the end.
        """
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None and stdout is not None  # noqa: S101, PT018 - both are pipes
        with contextlib.suppress(OSError):
            stdin.close()
        deadline = time.monotonic() + _GRACE
        with selectors.DefaultSelector() as ready:
            ready.register(stdout, selectors.EVENT_READ)
            while not self._output and (left := deadline - time.monotonic()) > 0 and ready.select(left):
                part = stdout.read(_PART)
                if part == b"":
                    break
                self._output += part or b""
        if self._output.strip():
            raise self._unasked()

    def _unasked(self) -> ToolError:
        said = bytes(self._output[:80]).decode("utf-8", "replace")
        return ToolError(f"it wrote more than one line per question ({said!r}): answer each with one line, in order")

    def _send(self, message: bytes, question: Question) -> bytes:
        assert self._process.stdin is not None  # noqa: S101 - a pipe
        try:
            return message[os.write(self._process.stdin.fileno(), message) :]
        except BlockingIOError:
            return message
        except OSError:
            raise self._ended(question) from None

    def _ended(self, question: Question) -> ToolError:
        """Return why the program cannot answer any more."""
        try:
            code = self._process.wait(_GRACE)
        except subprocess.TimeoutExpired:
            return ToolError(f"query {question.query_id!r} (number {self._asked}): it closed its output")
        stderr = self._process.stderr
        if stderr is not None and not stderr.closed:
            with contextlib.suppress(OSError):
                self._complaint += stderr.read(_PART) or b""
        said = self._complaint.decode("utf-8", "replace").strip().splitlines()
        last = f": {said[-1][:200]}" if said else ""
        how = f"ended with code {code}" if code >= 0 else f"was ended by signal {-code}"
        return ToolError(f"query {question.query_id!r} (number {self._asked}): it {how}{last}")

    def end(self) -> None:
        """Close the program's input, wait briefly, and end it and everything it started."""
        process = self._process
        with contextlib.suppress(OSError):
            if process.stdin is not None:
                process.stdin.close()
        # The group outlives its first process if that left children behind.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(_GRACE)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                stream.close()
