"""The paper's tables and figures, further data sets, and peers."""
