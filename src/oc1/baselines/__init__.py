"""The learners that the paper compares OC1 with, or mentions."""

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
