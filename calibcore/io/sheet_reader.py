"""Runs as a process of its own: the bytes of a workbook in, its sheets' cells as lines of JSON out.

A damaged workbook can make its reader ask for more memory than there is, which ends the process; so it is not ours.
"""

from __future__ import annotations

import datetime as dt
import io
import json
import sys
from typing import Any

_MEMORY = 8 << 30


def main() -> None:
    """Writes a line with the sheets' names, kinds and visibility, then a line with the cells of each sheet that is asked for."""
    _limit_memory()
    import python_calamine as calamine

    try:
        book = calamine.load_workbook(io.BytesIO(sys.stdin.buffer.read()))
    except Exception as error:  # noqa: BLE001
        secret = isinstance(error, calamine.PasswordError) or "assword" in str(error) or "ncrypted" in str(error)
        _write({"error": "password" if secret else "damaged"})
        return
    sheets = [m for m in book.sheets_metadata if m.typ == calamine.SheetTypeEnum.WorkSheet]
    shown = [m.name for m in sheets if m.visible == calamine.SheetVisibleEnum.Visible] or [m.name for m in sheets]
    _write({"shown": shown, "hidden": [m.name for m in sheets if m.name not in shown]})
    for name in shown[: int(sys.argv[1])]:
        try:
            sheet = book.get_sheet_by_name(name)
        except calamine.CalamineError as error:  # of the newer errors in cells the reader knows none
            if "cell error" not in str(error):
                raise
            _write({"error": str(error).rpartition(" ")[2].strip("'")})
        else:
            _write({"from": sheet.start or (0, 0), "rows": sheet.to_python(skip_empty_area=True)})


def _limit_memory() -> None:
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    most = _MEMORY if hard == resource.RLIM_INFINITY else min(_MEMORY, hard)
    resource.setrlimit(resource.RLIMIT_AS, (most, hard))


def _write(value: Any) -> None:
    sys.stdout.write(json.dumps(value, default=_plain))
    sys.stdout.write("\n")


def _plain(cell: Any) -> Any:
    if isinstance(cell, dt.datetime):
        return {"t": cell.isoformat()}
    return {"t": f"{cell.isoformat()}T00:00:00"} if isinstance(cell, dt.date) else str(cell)


if __name__ == "__main__":
    main()
