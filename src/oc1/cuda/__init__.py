"""The same fit with the examples on a GPU.

Large nodes are counted on the GPU (`engine`), whose few operations are those of a `Device` (`device`, `kernels.cu`);
what has become small is grown by the processor. CuPy is not imported before a GPU is asked for.
"""
