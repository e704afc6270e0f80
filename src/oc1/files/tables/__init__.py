"""Tables of examples in CSV, TSV, .xlsx, Parquet, Feather, ARFF or OC1's own format, read whole or in batches.

A path and `ReadOptions` go in; attributes, labels and weights come out, or a `FileProblem` with line and column. Begin
with `read_table`, to train, with `scan_table`, to use a model, and with `RowWriter` for what is written.
"""

from ..inputs import ModelInputs
from .batches import ExampleBatch, label_indices, scan_table
from .columns import ReadOptions
from .parsing import prefetch
from .reading import Table, read_table
from .writing import RowWriter, write_table

__all__ = ["ExampleBatch", "ModelInputs", "ReadOptions", "RowWriter", "Table"]
__all__ += ["label_indices", "prefetch", "read_table", "scan_table", "write_table"]
