"""The record of a stored run: a JSON object, readable by people and protected by a checksum."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from chunkers.bounded_json import parse_json
from evaluation.config import ExperimentConfig
from evaluation.results.document import environment_json, read_config, read_environment
from evaluation.results.types import Environment
from evaluation.types import CellKey

VERSION = 1


@dataclass(frozen=True)
class CellOrigin:
    """How one cell ended, and the inputs of each of its stages."""

    key: CellKey
    status: str
    reason: str
    stages: Mapping[str, Mapping[str, Any]]
    """stage → the inputs hashed in its key."""


@dataclass(frozen=True)
class RunRecord:
    """One run; the number orders runs, the time is only for display."""

    number: int
    time: str
    key: str
    """A hash of everything that determines the results: two runs with the same key and no tool have the same ones."""
    config: ExperimentConfig
    environment: Environment
    sources: Mapping[str, Mapping[str, Any]]
    """Dataset as written in the experiment → loader, fingerprint, and the clone, ref and commit if it has them."""
    cells: tuple[CellOrigin, ...]
    night: Mapping[str, Any] = field(default_factory=dict)
    """The findings of the night against its baseline."""
    files: Mapping[str, str] = field(default_factory=dict)
    """File of the run's folder → SHA-256."""

    def to_json(self) -> str:
        """Return the text of run.json."""
        body = {
            "version": VERSION,
            **{each.name: getattr(self, each.name) for each in dataclasses.fields(self)},
            "config": self.config.model_dump(mode="json"),
            "environment": environment_json(self.environment),
            "cells": [
                {**cell.key._asdict(), "status": cell.status, "reason": cell.reason, "stages": cell.stages}
                for cell in self.cells
            ],
        }
        plain = json.loads(json.dumps(body, default=str))
        return json.dumps({**plain, "checksum": _checksum(plain)}, indent=1, ensure_ascii=False) + "\n"

    @classmethod
    def from_json(cls, text: str) -> RunRecord:
        """Parse run.json; raise ValueError if it is not what `to_json` wrote."""
        try:
            body = parse_json(text)
            checksum = body.pop("checksum")
            if checksum != _checksum(body):
                raise ValueError("its text was changed after it was written")
            if body.pop("version") != VERSION:
                raise ValueError("another version of chunkbench wrote it")
            cells = tuple(
                CellOrigin(
                    CellKey(*(row[name] for name in CellKey._fields)), row["status"], row["reason"], row["stages"]
                )
                for row in body.pop("cells")
            )
            config, environment = read_config(body.pop("config")), read_environment(body.pop("environment"))
            return cls(**body, config=config, environment=environment, cells=cells)
        except (KeyError, TypeError, AttributeError, json.JSONDecodeError) as error:
            raise ValueError(f"it is not a run record ({type(error).__name__}: {error})") from None


def _checksum(body: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
