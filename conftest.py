"""Before anything is imported: kernels are cached by their sources, as Numba does not see a change in a callee."""

import hashlib
import os
import tempfile
from pathlib import Path

import numba

_sources = sorted((Path(__file__).parent / "src" / "abstain" / "kernels").glob("*.py"))
_state = hashlib.sha256(b"".join(path.read_bytes() for path in _sources)).hexdigest()[:16]
os.environ.setdefault("NUMBA_CACHE_DIR", str(Path(tempfile.gettempdir()) / f"abstain-kernels-{_state}"))
numba.config.CACHE_DIR = os.environ["NUMBA_CACHE_DIR"]  # a plugin may have imported Numba, which read its settings then
