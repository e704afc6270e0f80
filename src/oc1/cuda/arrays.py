"""Arrays that are on a GPU: CuPy's, PyTorch's, or those of any library that speaks DLPack."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from .device import Device, NoGPU, open_device

#: What the parameter `device` may be.
DEVICES = ("auto", "cpu", "cuda")


def is_on_device(array: Any) -> bool:
    """Whether an array is in the memory of a GPU."""
    if type(array).__module__.split(".")[0] == "torch":
        return bool(array.is_cuda)
    return hasattr(array, "__cuda_array_interface__")


def view_of(array: Any, device: Device) -> Any:
    """Return an array on the GPU as CuPy's, without copying it."""
    if isinstance(array, device.xp.ndarray):
        return array
    return device.xp.from_dlpack(array.detach() if hasattr(array, "detach") else array)


def host_copy(array: Any) -> Any:
    """Return an array in this process: the array itself, or a copy of what is on a GPU."""
    return np.asarray(view_of(array, open_device()).get()) if is_on_device(array) else array


def like(array: Any, given: Any) -> Any:
    """Return a CuPy array as what was given: PyTorch's tensors get tensors, all others CuPy's arrays."""
    if type(given).__module__.split(".")[0] == "torch":
        return sys.modules["torch"].from_dlpack(array)
    return array


def chosen_device(device: str, *arrays: Any) -> Any:
    """Return the `Device` that a fit should use, None for the processor; raise an error where a GPU is missed.

    Parameters
    ----------
    device : {"auto", "cpu", "cuda"}
    *arrays
        The data: with "auto", those on a GPU need one.
    """
    are_there = any(map(is_on_device, arrays))
    if device == "cpu":
        if are_there:
            raise ValueError("the data are on a GPU, but device='cpu': use device='cuda' or 'auto', or copy them first")
        return None
    try:
        return open_device()
    except NoGPU as error:
        if device == "auto" and not are_there:
            return None
        raise NoGPU(f"device={device!r}: {error}") from error
