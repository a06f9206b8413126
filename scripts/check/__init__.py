"""Long versions of the contracts that the tests check briefly."""
