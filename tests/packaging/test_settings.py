"""The app's settings file names options that Streamlit knows, keeps data here and passes contrast."""

import tomllib
from pathlib import Path

import pytest

CONFIG = Path(__file__).parents[2] / ".streamlit" / "config.toml"


@pytest.fixture(scope="module")
def settings():
    return tomllib.loads(CONFIG.read_text(encoding="utf-8"))


def option_names(table, prefix=""):
    for key, value in table.items():
        yield from option_names(value, f"{prefix}{key}.") if isinstance(value, dict) else [prefix + key]


def luminance(colour):
    """Return the relative luminance of #rrggbb, by the definition in WCAG 2.2."""
    channels = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    linear = [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in channels]
    return sum(weight * value for weight, value in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def mixed(front, back, share):
    channels = [share * int(front[start : start + 2], 16) + (1 - share) * int(back[start : start + 2], 16) for start in (1, 3, 5)]
    return "#" + "".join(f"{round(value):02x}" for value in channels)


def test_black_on_white_has_contrast_21():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)


def test_streamlit_knows_every_option(settings):
    known = pytest.importorskip("streamlit.config").get_config_options()
    assert [name for name in option_names(settings) if name not in known] == []


def test_nothing_leaves_and_nothing_enters_but_by_loopback(settings):
    assert settings["browser"]["gatherUsageStats"] is False
    assert settings["server"]["address"] == "127.0.0.1"
    assert settings["server"]["showEmailPrompt"] is False
    assert settings["client"]["showErrorDetails"] == "none"
    assert settings["client"]["showErrorLinks"] is False
    assert settings["client"]["toolbarMode"] == "viewer"


def test_upload_limit_is_one_gigabyte(settings):
    assert settings["server"]["maxUploadSize"] == 1000


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_and_primary_colour_pass_4_5_to_1(settings, theme):
    colours = settings["theme"][theme]
    assert contrast(colours["textColor"], colours["backgroundColor"]) >= 4.5
    assert contrast(colours["primaryColor"], colours["backgroundColor"]) >= 4.5
    assert contrast(mixed(colours["textColor"], colours["backgroundColor"], 0.6), colours["backgroundColor"]) >= 4.5  # captions


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_chart_colours_pass_3_to_1_on_both_backgrounds(settings, theme):
    colours = settings["theme"]["chartCategoricalColors"]
    assert len(set(colours)) == len(colours) == 10  # with fewer, Plotly charts fall back to others; an eleventh is not used
    assert min(contrast(colour, settings["theme"][theme]["backgroundColor"]) for colour in colours) >= 3
