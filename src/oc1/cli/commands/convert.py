"""``oc1 convert``: models as files of another kind, or as programs that run elsewhere."""

from __future__ import annotations

from keyword import iskeyword
from pathlib import Path
from typing import Annotated, Any

import typer

from ..options import Model, completing, with_reading
from ..screen import Refusal, check_output, note, refusing, say

#: What a model can become, and how such a file ends.
ENDINGS = {"json": ".json", "dt": ".dt", "onnx": ".onnx", "c": ".h", "python": ".py", "sql": ".sql"}
NUMBERS = ("double", "float", "fixed")


@refusing
@with_reading
def convert(
    model: Model,
    to: Annotated[
        str | None,
        typer.Option(
            "--to",
            metavar="|".join(ENDINGS),
            help="(default: by --output's ending)",
            autocompletion=completing([*ENDINGS]),
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="(default: stdout; files that are not text need one)"),
    ] = None,
    name: Annotated[str | None, typer.Option(help="C: prefix of all names. Python: the function.")] = None,
    numbers: Annotated[
        str,
        typer.Option(
            metavar="|".join(NUMBERS),
            help="C: kind of numbers. ONNX: double or float input.",
            autocompletion=completing(NUMBERS),
        ),
    ] = "double",
    bits: Annotated[int, typer.Option(help="C, fixed point: 16 or 32.")] = 32,
    data: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="C: the training data, to choose the fixed point and count the rows that could differ."
        ),
    ] = None,
    table: Annotated[
        str | None, typer.Option(help="SQL: a whole SELECT from this table, not only the expression.")
    ] = None,
    options: Any = None,
) -> None:
    """Write a model as ONNX, a C99 header, a Python function, a SQL expression, or a .dt or JSON model file.

    Examples: oc1 convert iris.json --to onnx -o iris.onnx; oc1 convert iris.json --to c -o iris.h --numbers fixed
    --data iris.csv
    """
    from ...files.models.storage import read_model

    out = None if out == Path("-") else out
    name_out = "" if out is None else out.name.removesuffix(".gz")
    kind = to or next((kind for kind, ending in ENDINGS.items() if name_out.endswith(ending)), None)
    if kind not in ENDINGS:
        given = f"--to {to!r} is not known" if to else "give --to"
        raise Refusal(f"{given}: it is one of {', '.join(ENDINGS)}")
    if numbers not in NUMBERS or (kind == "onnx" and numbers == "fixed"):
        raise Refusal(f"--numbers {numbers!r} is not one of {', '.join(NUMBERS[: 2 if kind == 'onnx' else 3])}")
    if bits not in (16, 32):
        raise Refusal(f"--bits is 16 or 32, not {bits}")
    if kind == "c" and numbers == "fixed" and data is None:
        raise Refusal(
            "fixed point needs --data: the training data say how large the numbers get, and which rows could differ"
        )
    if out is None and kind in ("onnx", "dt", "json"):
        raise Refusal(f"--to {kind} needs --output")
    if out is not None and out.name.endswith(".gz") and kind not in ("json", "dt"):
        raise Refusal(f"--output {out}: only model files are packed")
    idle = {"--name": name and kind not in ("c", "python"), "--table": table and kind != "sql"}
    idle |= {"--numbers": numbers != "double" and kind not in ("c", "onnx"), "--data": data and kind != "c"}
    for option in (option for option, is_idle in idle.items() if is_idle):
        raise Refusal(f"{option} does nothing for --to {kind}")
    if name is not None and (not name.isidentifier() or iskeyword(name)):
        raise Refusal(f"--name {name!r} is not a name that {kind} can use")
    check_output(out, model, data)
    stored = read_model(model)
    rows = None
    if data is not None and kind == "c":
        rows = _read_rows(stored, data, options)
    if kind in ("json", "dt"):
        from ...files.models.storage import save_model

        assert out is not None  # checked above
        if not name_out.endswith(ENDINGS[kind]):
            raise Refusal(f"--output {out}: a file of kind {kind} ends in {ENDINGS[kind]}")
        save_model(stored.model, out, source=stored.source)
    else:
        _write(_converted(kind, stored.model, name, numbers, bits, rows, table), out)
    if out is not None:
        note(f"model written to {out}")


def _converted(
    kind: str, model: Any, name: str | None, numbers: str, bits: int, rows: Any, table: str | None
) -> str | bytes:
    """Return the text, or the bytes, of a model as a program."""
    from ...learners.reduction import reduce_model

    for sentence in reduce_model(model).notes:
        note(f"note: {sentence}")
    named = {} if name is None else {"name": name}
    if kind == "onnx":
        from ...conversion.onnx import to_onnx

        return to_onnx(model, input_type=numbers)
    if kind == "python":
        from ...conversion.python import to_python

        return to_python(model, **named)
    if kind == "sql":
        from ...conversion.sql import to_sql

        return to_sql(model, table=table)
    from ...conversion.c.program import to_c

    written = to_c(model, numbers=numbers, bits=bits, data=rows, **named)
    if written.n_rows is not None:
        note(f"of {written.n_rows} rows, {written.n_different} get another class; {written.n_close} could by rounding")
    return written.text


def _read_rows(stored: Any, data: str, options: Any):
    from ...files.tables.reading import scan_table
    from ..predictor import Predictor

    predictor = Predictor.of(stored.model, stored.source)
    return predictor.joined(list(scan_table(data, predictor.inputs, options, labelled=False)))


def _write(content: str | bytes, out: Path | None) -> None:
    from ...files.atomic import replacing

    if out is None:
        say(content if isinstance(content, str) else content.decode())
        return
    with replacing(out) as file:
        file.write(content.encode() if isinstance(content, str) else content)
