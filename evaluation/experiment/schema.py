"""The JSON Schema of experiment files, for editors, generated from the model that reads them."""

from __future__ import annotations

from typing import Any

from evaluation.config import ExperimentConfig


def experiment_schema() -> dict[str, Any]:
    """Return the schema of an experiment file."""
    made = ExperimentConfig.model_json_schema()
    made["description"] = "An experiment of chunkbench; run it with `chunkbench compare FILE`."
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **made}
