"""CIFAR-10's archive of pickles, read without trusting it, and its horses and ships as principal components."""

import io
import pickle
import tarfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import FileError
from .lines import Progress

HORSE, SHIP = 7, 8
BATCHES = (*(f"data_batch_{k}" for k in range(1, 6)), "test_batch")
_LARGEST = 256 << 20


def read(path: Path, components: int, progress: Progress | None = None) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """The images' first principal components, and their labels: training images first, each part in its order."""
    try:
        pixels, labels = _images(path, progress)
    except (tarfile.TarError, EOFError, zlib.error, OSError) as error:
        raise FileError(f"{path}: damaged or cut short ({error})") from None
    if len(pixels) == 0 or pixels.shape[1] < components:
        raise FileError(f"{path}: expected images of horses and ships, got {pixels.shape}")
    return principal(pixels, components), labels


def _images(path: Path, progress: Progress | None) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Pixels and labels of all horses and ships."""
    found: dict[str, tuple[NDArray[np.uint8], NDArray[np.int64]]] = {}
    with path.open("rb") as raw, tarfile.open(fileobj=raw, mode="r:gz") as archive:
        for member in archive:
            name = member.name.rpartition("/")[2]
            if name not in BATCHES or not member.isfile():
                continue
            stream = archive.extractfile(member)
            if stream is None or member.size > _LARGEST:
                raise FileError(f"{path}: expected batches of images, got {member.name} of {member.size:,} bytes")
            found[name] = _batch(stream.read(), f"{path}, {name}")
            if progress is not None:
                progress(f"reading {path.name}", raw.tell(), path.stat().st_size)
    if missing := [name for name in BATCHES if name not in found]:
        raise FileError(f"{path}: expected CIFAR-10's six batches, got no {', '.join(missing)}")
    parts = [found[name] for name in BATCHES]
    if len({pixels.shape[1] for pixels, _ in parts}) != 1:
        raise FileError(f"{path}: expected images of one size")
    return np.concatenate([pixels for pixels, _ in parts]), np.concatenate([labels for _, labels in parts])


def _batch(content: bytes, where: str) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    try:
        batch = _Unpickler(io.BytesIO(content), encoding="bytes").load()
        pixels, labels = batch[b"data"], np.asarray(batch[b"labels"], np.int64)
    except Exception as error:  # whatever bytes that are no such pickle make the reader raise
        raise FileError(f"{where}: damaged, or not a batch of images ({error})") from None
    if not isinstance(pixels, np.ndarray) or pixels.dtype != np.uint8 or pixels.ndim != 2:
        raise FileError(f"{where}: expected pixels as a table of bytes")
    if labels.shape != (len(pixels),):
        raise FileError(f"{where}: expected a label an image, got {labels.shape} for {len(pixels)}")
    wanted = (labels == HORSE) | (labels == SHIP)
    return pixels[wanted], labels[wanted]


class _Unpickler(pickle.Unpickler):
    """Plain values and NumPy arrays; no other name is looked up, so that no code in a pickle runs."""

    def find_class(self, module: str, name: str) -> Any:
        if module in ("numpy.core.multiarray", "numpy._core.multiarray") and name == "_reconstruct":
            return np.empty(0).__reduce__()[0]
        if module == "numpy" and name in ("ndarray", "dtype"):
            return getattr(np, name)
        raise pickle.UnpicklingError(f"{module}.{name} is not allowed")


def principal(pixels: NDArray[np.uint8], components: int) -> NDArray[np.float64]:
    """The rows, centred, on the eigenvectors of their covariance with the largest eigenvalues, largest first.

    An eigenvector's sign is free: its entry of largest absolute value is made positive.
    """
    mean, width = pixels.mean(axis=0), pixels.shape[1]
    covariance = np.zeros((width, width))
    for part in range(0, len(pixels), 2000):
        rows = pixels[part : part + 2000] - mean
        covariance += rows.T @ rows
    _, vectors = np.linalg.eigh(covariance)
    vectors = vectors[:, : -components - 1 : -1]
    largest = np.abs(vectors).argmax(axis=0)
    vectors = vectors * np.sign(vectors[largest, np.arange(components)])
    return np.concatenate([(pixels[k : k + 2000] - mean) @ vectors for k in range(0, len(pixels), 2000)])
