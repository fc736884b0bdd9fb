"""The report of a replay: one page for decision makers, which needs nothing beside it.

It has about 5 MB, for it contains Plotly's JavaScript, taken from the installed package.
"""
