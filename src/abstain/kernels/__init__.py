"""Compiled functions on plain arrays: no classes, no input or output, no knowledge of the rest.

Every function is compiled at its first call and cached on disk, so importing this package compiles nothing.
"""
