"""Replaying a log: what a gate would have cost, compared with what teams do today."""
