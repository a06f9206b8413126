"""Tables, figures and pages generated from results."""
