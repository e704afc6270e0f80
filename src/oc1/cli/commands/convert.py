"""``oc1 convert``: models as files of another kind, or as programs that run elsewhere."""

from __future__ import annotations

from keyword import iskeyword
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from ..options import Model, OutputFile, choice
from ..screen import UsageError, check_output, check_used, note, say

if TYPE_CHECKING:
    from ...files.tables import ReadOptions

#: What a model can become, and how such a file ends.
ENDINGS = {"json": ".json", "dt": ".dt", "onnx": ".onnx", "c": ".h", "python": ".py", "sql": ".sql"}
#: What uses an option.
USES = {"--name": ("c", "python"), "--numbers": ("c", "onnx"), "--data": ("c",), "--table": ("sql",)}
NUMBERS = ("double", "float", "fixed")


def convert(
    model: Model,
    options: ReadOptions,
    to: Annotated[str | None, choice([*ENDINGS], "--to")] = None,
    out: OutputFile = None,
    name: str | None = None,
    numbers: Annotated[str, choice(NUMBERS, "--numbers")] = "double",
    bits: int = 32,
    data: str | None = None,
    table: str | None = None,
) -> None:
    """Convert a model to ONNX, C99, Python, SQL, .dt or JSON.

    Examples: oc1 convert iris.json --to onnx -o iris.onnx; oc1 convert iris.json --to c -o iris.h --numbers fixed
    --data iris.csv

    Parameters
    ----------
    to : json|dt|onnx|c|python|sql
        (default: from the suffix of --output)
    out : FILE
        (default: stdout; onnx, dt and json need a file)
    name : NAME
        C: prefix of all names. Python: name of the function.
    numbers : double|float|fixed
        C: type of the numbers. ONNX: double or float input.
    bits : int
        C, fixed point: 16 or 32.
    data : FILE
        C: training data, to choose the fixed-point units and count rows that could differ.
    table : NAME
        SQL: write a complete SELECT from this table instead of an expression.
    """
    out = None if out == Path("-") else out
    kind = _check_kind(to, out)
    if kind == "onnx" and numbers == "fixed":
        raise UsageError("--numbers fixed is for --to c, not onnx")
    if bits not in (16, 32):
        raise UsageError(f"--bits must be 16 or 32, not {bits}")
    if kind == "c" and numbers == "fixed" and data is None:
        raise UsageError(
            "fixed point needs --data: the training data tell how large the numbers get, and which rows could differ"
        )
    given = {"--name": name, "--numbers": None if numbers == "double" else numbers, "--data": data, "--table": table}
    check_used("--to", kind, given, USES)
    if name is not None and (not name.isidentifier() or iskeyword(name)):
        raise UsageError(f"--name {name!r} is not a valid name in {kind}")
    check_output(out, model, data)

    from ...files.atomic import replacing
    from ...files.models.record import RecordedTree
    from ...files.models.storage import estimator_of, read_record, save_model
    from ...learners.reduction import reduce_model

    record, source = read_record(model)
    is_saved, rows = out is not None and kind in ("json", "dt"), None
    # Only what needs an estimator makes one: that takes scikit-learn.
    is_light = record.is_plain_tree and record.has_valid_smoothing and data is None and not is_saved
    fitted = RecordedTree.of(record) if is_light else estimator_of(record, model)
    if data is not None:
        from ..predictor import Predictor

        rows, _ = Predictor.of(fitted, source).read(data, options, labelled=False)
    if out is not None and is_saved:
        save_model(fitted, out, source=source)
    else:
        for sentence in reduce_model(fitted).notes:
            note(f"note: {sentence}")
        content = _converted(kind, fitted, name, numbers, bits, rows, table)
        if out is None:
            say(content.decode())
        else:
            with replacing(out) as file:
                file.write(content)
    if out is not None:
        note(f"model written to {out}")


def _check_kind(to: str | None, out: Path | None) -> str:
    """Return what to convert to, as asked for or by the name of the output, if the output can hold it."""
    name = "" if out is None else out.name.removesuffix(".gz")
    kind = to or next((kind for kind, ending in ENDINGS.items() if name.endswith(ending)), None)
    if kind is None:
        raise UsageError(f"give --to: one of {', '.join(ENDINGS)}")
    if out is None and kind in ("onnx", "dt", "json"):
        raise UsageError(f"--to {kind} needs --output")
    if out is not None and out.name.endswith(".gz") and kind not in ("json", "dt"):
        raise UsageError(f"--output {out}: only model files (.json, .dt) can be compressed")
    if kind in ("json", "dt") and not name.endswith(ENDINGS[kind]):
        raise UsageError(f"--output {out}: for --to {kind} it must end in {ENDINGS[kind]}")
    return kind


def _converted(kind: str, model: Any, name: str | None, numbers: str, bits: int, rows: Any, table: str | None) -> bytes:
    """Return a model as a program."""
    named = {} if name is None else {"name": name}
    from ...conversion import to_c, to_onnx, to_python, to_sql

    if kind == "onnx":
        return to_onnx(model, input_type=numbers)
    if kind == "python":
        return to_python(model, **named).encode()
    if kind == "sql":
        return to_sql(model, table=table).encode()
    written = to_c(model, numbers=numbers, bits=bits, data=rows, **named)
    if written.n_rows is not None:
        note(f"of {written.n_rows} rows, {written.n_different} get another class by rounding")
    return written.text.encode()
