"""The logs there are: which set, what happens, what handing over costs."""

from dataclasses import dataclass

from ...errors import InputError
from ..ingredients import Keyed
from .drifts import Noise, Outage, Population, Recorded, Still, Switch
from .rows import FILES


@dataclass(frozen=True)
class Recipe(Keyed):
    """How a log is made."""

    name: str
    source: str
    cost: float
    drift: Still
    fit: int
    """Rows the models are fitted on."""
    rounds: int
    blur: float = 0.0
    """Noise on the inputs, in standard deviations of each: small sets are asked for the same rows many times."""

    @property
    def dataset(self) -> str:
        """The set whose file it needs."""
        return FILES.get(self.source, self.source)


_ALL = (
    Recipe("covtype", "covtype", 0.2, Still(), 10_000, 40_000),
    Recipe("higgs", "higgs", 0.2, Still(), 10_000, 40_000),
    Recipe("ijcnn", "ijcnn", 0.15, Still(), 8_000, 40_000),
    Recipe("cod-rna", "cod-rna", 0.15, Still(), 10_000, 40_000),
    Recipe("digits", "digits", 0.15, Still(), 600, 20_000, blur=0.7),
    Recipe("elevation", "elevation", 0.15, Still(), 9_000, 40_000),
    Recipe("covtype, population", "covtype", 0.2, Population(0), 10_000, 40_000),
    Recipe("skin, noise", "skin", 0.2, Noise(0.8), 8_000, 40_000),
    Recipe("higgs, switch", "higgs", 0.2, Switch(), 10_000, 40_000),
    Recipe("cifar, switch", "cifar", 0.15, Switch(), 4_000, 20_000, blur=0.1),
    Recipe("cod-rna, outage", "cod-rna", 0.15, Outage(), 10_000, 40_000),
    Recipe("elevation, outage", "elevation", 0.15, Outage(), 9_000, 40_000),
    Recipe("eye, recorded", "eye", 0.2, Recorded(), 3_000, 11_000),
)
_SHIPPED = (
    Recipe("breast-cancer", "breast-cancer", 0.15, Still(), 200, 20_000, blur=0.5),
    Recipe("diabetes, noise", "diabetes", 0.2, Noise(0.8), 200, 20_000, blur=0.2),
    Recipe("digits, outage", "digits", 0.15, Outage(), 600, 20_000, blur=0.7),
)

RECIPES = {recipe.name: recipe for recipe in (*_ALL, *_SHIPPED)}
LOGS = tuple(recipe.name for recipe in _ALL)
"""Those of the study."""
SHIPPED = ("digits", *(recipe.name for recipe in _SHIPPED))
"""Those that need no file: made of sets that come with scikit-learn."""


def recipe(name: str) -> Recipe:
    """The recipe of that name."""
    if name not in RECIPES:
        raise InputError(f"log: expected one of {'; '.join(RECIPES)}, got {name!r}")
    return RECIPES[name]
