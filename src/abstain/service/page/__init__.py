"""The page for people who watch gates and review cases."""
