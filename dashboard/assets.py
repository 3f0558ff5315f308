"""Where the sample files are: in the package when installed, beside it in a checkout."""

from __future__ import annotations

from pathlib import Path

__all__ = ["config_file", "sample_paths"]

_HERE = Path(__file__).resolve().parent

# In the order of a first visit: the calibrated model is the baseline, then one file a pattern, then more than two classes.
_ORDER = ("steady-v1", "swift-v2", "mixed-v3", "timid-v4", "certain-v5", "weather-steady-v1", "weather-swift-v2")


def _beside_or_within(name: str) -> Path:
    within = _HERE / name
    return within if within.exists() else _HERE.parent / name


def sample_paths() -> list[Path]:
    """The sample prediction files that exist, in the order in which they are shown."""
    folder = _beside_or_within("assets")
    return [path for path in (folder / f"{name}.csv" for name in _ORDER) if path.is_file()]


def config_file() -> Path:
    """Streamlit's settings for this app."""
    return _beside_or_within(".streamlit") / "config.toml"
