"""The paper's claims, several to a file by theme.

Every `Claim` at the top level of a module here is judged: its words, its rule and its judge. The numbers that decide a
verdict are constants beside it, each with the reason in the claim's words.
"""
