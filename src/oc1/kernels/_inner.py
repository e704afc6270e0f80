"""Compiling functions that only kernels call, without machine code of their own.

Numba optimises every function and makes machine code of it, but that of a function that is called by others is never
run: its callers take over its code and compile it again as part of their own. Here such a function ends as LLVM's code,
as it is, which saves a quarter of the time of a first fit. This leans on names that Numba does not promise; without
them, `InnerCompiler` is None, and functions are compiled as always.
"""

from __future__ import annotations

from typing import Any

InnerCompiler: Any

try:
    from numba.core.codegen import JITCodeLibrary
    from numba.core.compiler import CompilerBase, DefaultPassBuilder
    from numba.core.compiler_machinery import register_pass
    from numba.core.typed_passes import NativeLowering

    class _Environments:
        """Stands for the code generator where a function is given its environment, which only Python code needs."""

        def set_env(self, name: str, environment: Any) -> None:
            """Do nothing."""

    class InnerLibrary(JITCodeLibrary):
        """The code of a function that is to be part of others."""

        def _optimize_final_module(self) -> None:
            """Do nothing: callers optimise what they take over, as a whole."""

        def _finalize_final_module(self) -> None:
            self._finalize_dynamic_globals()
            self._verify_declare_only_symbols()
            self._finalized = True

        def get_pointer_to_function(self, name: str) -> int:
            """Return 0: there is no machine code."""
            self._ensure_finalized()
            return 0

        @property
        def codegen(self) -> Any:
            """What is asked to set an environment."""
            return _Environments()

    @register_pass(mutates_CFG=True, analysis_only=False)
    class InnerLowering(NativeLowering):
        """Makes an `InnerLibrary`."""

        _name = "oc1_inner_lowering"

        def run_pass(self, state: Any) -> bool:
            """Lower a function."""
            state.library = InnerLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
            return bool(super().run_pass(state))

    class InnerCompiler(CompilerBase):  # type: ignore[no-redef]
        """Numba's compiler, but for the last step."""

        def define_pipelines(self) -> list[Any]:
            """Return the steps."""
            steps = DefaultPassBuilder.define_nopython_pipeline(self.state)
            steps.passes = [(InnerLowering if step is NativeLowering else step, why) for step, why in steps.passes]
            steps.finalize()
            return [steps]

except (ImportError, AttributeError):
    InnerCompiler = None
