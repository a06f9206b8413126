"""Everything a run found, as typed values, and the folder they are written to."""
