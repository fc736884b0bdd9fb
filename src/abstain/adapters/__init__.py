"""Front doors to the gate for those who work with scikit-learn or river; each is imported by itself.

``from abstain.adapters.sklearn import GateClassifier`` or ``from abstain.adapters.river import GateClassifier``.
"""
