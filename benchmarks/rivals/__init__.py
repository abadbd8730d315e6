"""The multi-class boosting methods that the papers compare with [REBEL, Fig. 4; LOCAL, Fig. 8].

Written anew on stumps over our bins, behind scikit-learn's interface. All end up as sums of terms,
each a stump and an output vector for either side, so that one `predict` serves them all.
Struct-Boost is quoted and not rerun.
"""

from rivals.adaboost_ecc import AdaBoostECC
from rivals.adaboost_mh import AdaBoostMH
from rivals.aoso_logitboost import AOSOLogitBoost
from rivals.cw_boost import CWBoost
from rivals.one_against_all import OneAgainstAll
from rivals.samme import SAMME

RIVALS = {
    "AdaBoost 1-vs-all": OneAgainstAll,
    "AdaBoost.MH": AdaBoostMH,
    "AdaBoost.ECC": AdaBoostECC,
    "SAMME": SAMME,
    "CW-Boost": CWBoost,
    "AOSO-LogitBoost": AOSOLogitBoost,
}

__all__ = [
    "RIVALS",
    "SAMME",
    "AOSOLogitBoost",
    "AdaBoostECC",
    "AdaBoostMH",
    "CWBoost",
    "OneAgainstAll",
]
