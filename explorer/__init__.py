"""Equiscope's core: fields, groups, capture and the measurement of symmetry. Never imports Qt.

Its public face is the package `equiscope`.
"""
