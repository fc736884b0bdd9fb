"""The paper's claims, several to a file by theme.

A claim is a `Claim` at the top level of any module here: its words, its rule and its judge. What decides a verdict is
written as a constant with its reason, from the claim's words, beside it.
"""
