"""Results that print themselves: the return value of `chunkbench.compare`."""

from __future__ import annotations

import dataclasses
import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chunkers.errors import MissingExtraError
from evaluation.experiment.in_python import run_objects
from evaluation.report.build import write_report
from evaluation.report.fitting import Prose, Trimmed
from evaluation.report.formats import plural
from evaluation.report.terminal import render_table
from evaluation.report.verdict import verdict
from evaluation.results.folder import check_output, write_results
from evaluation.results.types import Results

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

_WIDTH = 100


@dataclass(frozen=True, repr=False)
class PrintableResults(Results):
    """The results of a comparison, for people: print them, display them in a notebook, or save them as files."""

    @classmethod
    def of(cls, results: Results) -> PrintableResults:
        """Return the same results, printable."""
        return cls(**{field.name: getattr(results, field.name) for field in dataclasses.fields(results)})

    @property
    def verdict(self) -> str:
        """What is shown and what is not, in words."""
        return verdict(self)

    def __repr__(self) -> str:
        """Summarise what was compared, in a line."""
        cells = self.cells
        failed = sum(cell.status == "failed" for cell in cells)
        counts = {"chunker": self.config.chunkers, "query": self.queries, "cell": cells}
        said = ", ".join(plural(len(some), noun) for noun, some in counts.items())
        return f"<Results: {said}{f', {failed} of them failed' if failed else ''}>"

    def __str__(self) -> str:
        """Return the verdict and the table."""
        console, output = _recorder()
        self._print(console)
        return output.getvalue().rstrip("\n")

    def _repr_html_(self) -> str:
        console, _ = _recorder()
        self._print(console)
        return console.export_html(inline_styles=True, code_format='<pre style="line-height: 1.3">{code}</pre>')

    def _print(self, console: Console) -> None:
        for line in self.verdict.split("\n"):
            console.print(Trimmed(Prose(line)))
        console.print()
        console.print(render_table(self))

    def to_pandas(self, *, per_query: bool = False) -> pd.DataFrame:
        """Return one row per cell and measure with mean and interval, or one per query as well."""
        try:
            import pandas as pd
        except ImportError:
            raise MissingExtraError("pandas", extra="pandas") from None
        return pd.DataFrame(self._score_rows() if per_query else self._mean_rows())

    def _mean_rows(self) -> list[dict[str, Any]]:
        return [
            {**cell.key._asdict(), "measure": name, **dataclasses.asdict(summary)}
            for cell in self.cells
            for name, summary in cell.measures.items()
        ]

    def _score_rows(self) -> list[dict[str, Any]]:
        return [
            {**cell.key._asdict(), "query": query.id, "measure": name, "value": float(value)}
            for cell in self.cells
            for name, values in cell.scores.items()
            for query, value in zip(self.queries_of(cell.key.dataset), values, strict=True)
        ]

    def save(self, folder: str | Path) -> Path:
        """Write results.json, the tables and the report into the folder, and return it."""
        folder = Path(folder).expanduser()
        check_output(folder, config=self.config, shard=self.shard)
        write_results(self, folder)
        write_report(self, folder)
        return folder


def compare_objects(source: object, axes: Mapping[str, Iterable[Any]], **how: Any) -> PrintableResults:  # noqa: ANN401 - as `run_objects` takes it
    """Run the comparison and return its results, printable."""
    return PrintableResults.of(run_objects(source, axes, **how))


def _recorder() -> tuple[Console, io.StringIO]:
    from rich.console import Console

    output = io.StringIO()
    return Console(file=output, width=_WIDTH, record=True, color_system=None, force_terminal=False), output
