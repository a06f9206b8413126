"""Figures as inline SVG, each a pure function of numbers; colours are classes defined by the page's style."""
