"""The gate: named models, prices, reviewers, capacity; and replaying a log."""
