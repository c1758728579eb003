"""One boot, stored with the names of any schema version."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import polars as pl

from bundles import make_bundle

#: The last phase and the marks of the invented boot, as each schema version names them.
NAMES = {2: ("user_land", "no-operation"), 3: ("userspace", "instruction")}


def make_recorded_in_words_of(schema: int, directory: Path) -> Path:
    """Write an invented recorded boot whose last phase is that of the guest's own first process.

    :param schema: 2 or 3: the version whose names are stored.
    """
    bundle = make_bundle(directory, schema_version=schema)
    phase, source = NAMES[schema]
    manifest = json.loads((bundle / "manifest.json").read_text())
    of_phase = pl.col("kind") == "phase"
    changes = {
        "marks": [pl.col("mark").replace({"user": "guest_start"}),
                  pl.col("source").replace({"instruction": source, "no-operation": source})],
        "spans": [pl.when(of_phase).then(pl.col("name").replace({"user": phase})).otherwise("name").alias("name")],
        "phase_calls": [pl.col("phase").replace({"user": phase})],
    }  # fmt: skip
    for table in manifest["tables"]:
        path = bundle / f"{table}.parquet"
        frame = pl.read_parquet(path).with_columns(changes.get(table, []))
        frame.write_parquet(path, compression="zstd", metadata={"firstlight.schema": str(schema)})
        manifest["tables"][table]["sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
    guest_files = bundle / "raw" / ("kept" if schema < 3 else "guest-files")
    guest_files.mkdir()
    (guest_files / "note").write_text("left by the guest\n")
    (bundle / "manifest.json").write_text(json.dumps(manifest, indent=1))
    return bundle
