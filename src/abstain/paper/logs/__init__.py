"""The study of logs: learners that follow real models by thresholds, against thresholds tuned by hand.

A log is made of a real set: three models of scikit-learn are fitted on a first part of it and answer the rest, in an
order and with changes on the way that its recipe says.
"""
