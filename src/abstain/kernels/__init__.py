"""Compiled functions on plain arrays: no classes, no input or output, no knowledge of the rest.

Every function is compiled at its first call and kept on disk, so importing this package compiles nothing. A folder
holds the functions of one family of learners; `layout` and `hashing` serve two of them, `passes` the tables that go in.
"""
