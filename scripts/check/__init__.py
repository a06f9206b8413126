"""Long forms of the contracts that the tests check briefly."""
