"""A fifth kind of data, as somebody would write it: values on a ring of n sites, under cyclic shifts.

Nothing of it is known to the program: it is found in a folder named by EQUISCOPE_PLUGINS.
"""
