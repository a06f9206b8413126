"""Everything a run found, as typed values, and the folder it is written to."""
