"""The paper's figures: what each shows, how it is drawn, and its caption.

Every `Figure` at the top level of a module here is drawn. None plays games: those that need some ask for jobs.
"""
