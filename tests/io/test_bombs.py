"""Files made to cost memory or time: each ends in a sentence, within seconds and without taking the memory that it asks for."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

SECONDS, MEGABYTES = 15, 1000  # of a busy machine; a few seconds and hundreds of MB are usual
RUN = """
import gzip, io, json, os, resource, struct, sys, time, warnings, zipfile, zlib
resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))  # what asks for more gets a MemoryError, which is no sentence
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from calibcore.errors import InputError
from calibcore.io import inspect_bytes, read_bytes


def zipped(members):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return out.getvalue()


def zipped_zeros(name, megabytes):  # one megabyte is packed, and what was packed is repeated
    one, last = zlib.compressobj(wbits=-15), zlib.compressobj(wbits=-15)
    packed = (one.compress(bytes(1 << 20)) + one.flush(zlib.Z_FULL_FLUSH)) * megabytes + last.flush()
    check, unpacked, name = 0, megabytes << 20, name.encode()
    for _ in range(megabytes):
        check = zlib.crc32(bytes(1 << 20), check)
    about = struct.pack("<5H3I2H", 20, 0, 8, 0, 33, check, len(packed), unpacked, len(name), 0)
    member = b"PK\\3\\4" + about + name + packed
    entry = b"PK\\1\\2" + struct.pack("<H", 20) + about + struct.pack("<3H2I", 0, 0, 0, 0, 0) + name
    return member + entry + b"PK\\5\\6" + struct.pack("<4H2IH", 0, 0, 1, 1, len(entry), len(member), 0)


def header(shape):
    text = str({"descr": "<f8", "fortran_order": False, "shape": shape}).encode().ljust(117) + b"\\n"
    return b"\\x93NUMPY\\x01\\x00" + struct.pack("<H", len(text)) + text + bytes(64)


def parquet(table, **how):
    out = io.BytesIO()
    pq.write_table(table, out, compression="zstd", **how)
    return out.getvalue()


def long_words(rows, length):
    words = pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, np.int32)), pa.array(["x" * length]))
    return parquet(pa.table({"label": words, "p": np.full(rows, 0.5)}), store_schema=False, dictionary_pagesize_limit=1 << 30)


BOMBS = {
    "zip": lambda: zipped_zeros("a.csv", 300),
    "gzip": lambda: gzip.compress(bytes(16 << 20)) * 40,
    "gzip in zip": lambda: zipped({"a.csv.gz": gzip.compress(bytes(16 << 20)) * 40}),
    "workbook": lambda: zipped_zeros("xl/worksheets/sheet1.xml", 300),
    "npy": lambda: header((10**12,)),
    "npy with sizes beyond numbers": lambda: header((10**12, 10**12, 10**12)),
    "npz": lambda: zipped({"y_prob.npy": header((10**12,)), "y_true.npy": header((10**12,))}),
    "parquet of one long word": lambda: long_words(200_000, 1 << 20),
    "parquet of a few rows with one long word": lambda: long_words(15_000, 1 << 20),
    "lists": lambda: b"[" * 100_000 + b"]" * 100_000,
    "objects": lambda: b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    "lists in a line": lambda: b'{"a": 1}\\n{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}\\n",
    "lists in a cell": lambda: b"label,probs\\n1," + b"[" * 100_000 + b"]" * 100_000 + b"\\n0,[0.5]\\n",
    "one line": lambda: b"x" * 50_000_000,
    "one line of cells": lambda: b"0.5," * 12_500_000,
    "one long cell": lambda: b"label,p\\n1,0.5\\n0," + b"9" * 50_000_000 + b"\\n",
    "an open quote": lambda: b'label,p\\n1,"0.5\\n' + b"0,0.5\\n" * 8_000_000,
    "many empty lines": lambda: b"\\n" * 50_000_000,
    "many keys": lambda: b"".join(json.dumps({f"k{i}": i}).encode() + b"\\n" for i in range(20_000)),  # a table of 3 GB
}

def peak():  # of this program alone: what getrusage tells of itself begins with the size of the program that started it
    with open("/proc/self/status") as status:
        return int(next(line for line in status if line.startswith("VmHWM")).split()[1])


def tried(name):
    warnings.simplefilter("error")
    data = BOMBS[name]()
    before = peak()
    start = time.monotonic()
    said = []
    for call in (read_bytes, inspect_bytes):
        try:
            result = call(data, "f")
            said.append(getattr(result, "problem", None) or (result.questions and "asks") or "read")
        except InputError as error:
            said.append(str(error))
    taken = max(peak(), resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
    return {"name": name, "said": said, "seconds": time.monotonic() - start, "megabytes": taken / 1024, "before": before / 1024}


for name in sys.argv[1:]:
    if os.fork() == 0:  # a process for each, whose memory is its own
        print(json.dumps(tried(name)), flush=True)
        os._exit(0)
    if os.wait()[1]:
        sys.exit(f"no answer to {name}")
"""
NAMES = re.findall(r'^    "(.+?)": lambda', RUN, re.MULTILINE)
PARTS = [NAMES[i::3] for i in range(3)]  # a start of Python for each part, not for each file


@pytest.mark.skipif(sys.platform != "linux", reason="limits and counts of memory are those of Linux")
@pytest.mark.parametrize("names", PARTS, ids=[", ".join(names) for names in PARTS])
def test_a_file_made_to_cost_memory_is_refused_in_a_sentence(names):
    done = subprocess.run([sys.executable, "-c", RUN, *names], capture_output=True, timeout=300, cwd=Path(__file__).parents[2], check=False)
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert [f["name"] for f in found] == names
    for one in found:
        assert one["said"][0] not in ("read", "asks"), one  # a look at the beginning of a text may find nothing wrong there
        assert one["seconds"] < SECONDS, one
        assert one["megabytes"] < MEGABYTES, one
