"""Figures as inline SVG, each a pure function of numbers; colours are classes that the page's style decides."""
