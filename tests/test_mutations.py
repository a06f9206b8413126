"""The check of the tests themselves: small faults are made where they can matter, and a test that fails notices."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

from scripts.check.mutations import ROOMS, ROOT, Fault, Reach, equivalent, faults, notices, reach, runner

SOURCE = '''
"""Not 1 < 2."""
from __future__ import annotations
LIMIT = 5


@decorated(frozen=True)
def f(a: Literal[1], b=2) -> tuple[int, 3]:
    """Says 3 + 4."""
    if a < b and not a:
        raise ValueError(f"{a + 1}")
    é = "é" + str(a - 1 if b in {1} else -a)
    return [x for x in é if g(x)], sorted(é, reverse=True)
'''


def made(source: str) -> set[tuple[str, str]]:
    """Return what becomes of what."""
    return {(fault.was, fault.becomes) for fault in faults("f.py", source.encode())}


def test_faults_are_flipped_comparisons_swapped_operators_and_places_that_are_off_by_one() -> None:
    """Nothing that is only said, only typed or only raised is at fault, and neither is how a call is made."""
    assert made(SOURCE) == {
        ("2", "(3)"),
        ("a < b and not a", "(not (a < b and (not a)))"),
        ("a < b and not a", "(a < b or not a)"),
        ("a < b", "(a <= b)"),
        ("not a", "(a)"),
        ('"é" + str(a - 1 if b in {1} else -a)', "('é' - str(a - 1 if b in {1} else -a))"),
        ("a - 1", "(a + 1)"),
        ("1", "(2)"),
        ("b in {1}", "(b not in {1})"),
        ("-a", "(a)"),
        ("g(x)", "(not g(x))"),
    }


def test_every_fault_of_our_own_code_is_code_and_changes_it() -> None:
    """The files with faults in them parse, and are other programs than before."""
    file = "chunkers/coverage.py"
    source = (ROOT / file).read_bytes()
    found = list(faults(file, source))
    assert len(found) > 20
    for fault in found:
        assert ast.dump(ast.parse(fault.text)) != ast.dump(ast.parse(source))
        assert fault.diff
        assert fault.line <= fault.end_line


def test_every_room_has_files_and_tests() -> None:
    """A room whose folder or tests are renamed is renamed here."""
    for room in ROOMS.values():
        assert list(ROOT.glob(room.code))
        for word in room.tests.split():
            assert list(ROOT.glob(f"tests/test_{word}.py")), word
        named = "".join(path.read_text("utf-8") for path in (ROOT / "tests").glob("test_*.py"))
        assert all(re.search(rf"def test_\w*{word}|\[\w*{word}|\"{word}\"", named) for word in room.without.split())


def test_what_is_called_equivalent_is_in_the_code() -> None:
    """A line that was rewritten is judged anew."""
    for file, diff in equivalent():
        assert diff in {fault.diff for fault in faults(file, (ROOT / file).read_bytes())}


def test_a_fault_is_noticed_by_a_test_that_reaches_it(tmp_path: Path) -> None:
    """Of two faults the tested one is noticed and the other survives; afterwards the file is as it was."""
    (tmp_path / "pyproject.toml").write_text('[tool.pytest.ini_options]\npythonpath = ["."]\n')
    (tmp_path / "room").mkdir()
    (tmp_path / "room" / "code.py").write_text(
        "def add(a, b):\n    return a + b\n\n\ndef least(a):\n    return a > 0\n\n\ndef alone(a):\n    return a * 2\n"
    )
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_code.py").write_text(
        "from room.code import add, least\n\n\ndef test_add():\n    assert add(2, 3) == 5\n\n\n"
        "def test_least():\n    assert least(7)\n\n\ndef test_wrong():\n    assert add(1, 1) == 3\n"
    )
    source = (tmp_path / "room" / "code.py").read_bytes()
    with runner(tmp_path) as run:
        fewer = reach(run, tmp_path, ["room/code.py"], ["tests/test_code.py"], without="least")
        assert set(fewer.seconds) == {"tests/test_code.py::test_add"}
        known = reach(run, tmp_path, ["room/code.py"], ["tests/test_code.py"])
        assert set(known.seconds) == {"tests/test_code.py::test_add", "tests/test_code.py::test_least"}
        found = {fault.becomes: fault for fault in faults("room/code.py", source)}
        assert known.tests(found["(a - b)"]) == ["tests/test_code.py::test_add"]
        assert notices(run, tmp_path, found["(a - b)"], known)
        assert not notices(run, tmp_path, found["(a >= 0)"], known)
        assert not notices(run, tmp_path, found["(a / 2)"], known)
    assert (tmp_path / "room" / "code.py").read_bytes() == source


def test_a_line_that_an_import_reaches_is_for_all_tests() -> None:
    """A default or a class attribute is read before any test runs."""
    fault = Fault("a.py", 1, 1, "1", "(2)", "", "")
    known = Reach({"slow": 2.0, "fast": 1.0}, {"a.py": {1: ["", "slow|run"]}})
    assert known.tests(fault) == ["fast", "slow"]
    assert json.dumps(known.tests(Fault("a.py", 2, 2, "1", "(2)", "", ""))) == "[]"
