"""Pages are run as doctests; scripts beside them are no modules, and what the build writes is run by the build."""

collect_ignore_glob = ["*.py", "gallery/*"]
