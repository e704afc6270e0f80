"""Fitted models as programs that run elsewhere: ONNX, C, Python, SQL."""
