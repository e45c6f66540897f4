"""Analyses of graphs and of fields on them: spectrum, smoothness, influence, what 1-WL can tell apart."""
