"""The learners that the paper compares OC1 with, or mentions.

Each is an estimator as in `oc1.learners`: parameters and examples go in, and a fitted tree comes out. Most bring only a
`Splitter` (`oc1.growing.splitters`), which says how one node is split: begin with `cart_lc.CARTLCSplitter` for one of
oblique splits, `gain_ratio.GainRatioSplitter` for C4.5's, and `grouping.TwoClassSplitter`, from which those derive that
part two groups of classes.
"""

from .c45 import C45Classifier
from .cart import CARTClassifier
from .cart_lc import CARTLCClassifier
from .lmdt import LMDTClassifier
from .msmt import MSMTClassifier
from .perceptron_tree import PerceptronTreeClassifier
from .sadt import SADTClassifier

__all__ = [
    "C45Classifier",
    "CARTClassifier",
    "CARTLCClassifier",
    "LMDTClassifier",
    "MSMTClassifier",
    "PerceptronTreeClassifier",
    "SADTClassifier",
]
