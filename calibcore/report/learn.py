"""What a reader needs to know to read a page: the diagram, the scores, the limits, privacy and the words; as plain text."""

from __future__ import annotations

from dataclasses import dataclass

from calibcore.analysis import Analysis
from calibcore.plot.frame import words_of
from calibcore.report.tables import Table, plain
from calibcore.report.words import headline, shown_lines, worst_range

__all__ = [
    "CAUTIONS",
    "EXAMPLES",
    "GLOSSARY",
    "HOW_TO_READ",
    "LIMITS",
    "MEANING",
    "PRIVACY",
    "SCORES",
    "SHARING",
    "Example",
    "Question",
    "Term",
    "about",
    "questions",
]


@dataclass(frozen=True, slots=True)
class Example:
    """A bundled sample with the shape that it shows."""

    name: str
    shape: str
    sample: str


@dataclass(frozen=True, slots=True)
class Question:
    """A question about a diagram, and its answer."""

    text: str
    answer: str


@dataclass(frozen=True, slots=True)
class Term:
    """A score: what it means, how it is computed and what it does not tell."""

    name: str
    meaning: str
    formula: str = ""
    limit: str = ""


MEANING = (
    (
        "A model that says 90% should be right nine times out of ten. If it is right eight times, it is too sure: "
        "whoever acts on its 90% meets twice the errors that were planned for."
    ),
    (
        "Calibration asks only this: do the claims and the outcomes agree? A model can be calibrated and useless, "
        "or good at telling cases apart and badly calibrated. Both need a look."
    ),
)

HOW_TO_READ = (
    "Across: how sure the model was. Up: how often it was right. Each point is a group of predictions with similar confidence.",
    "On the dashed line, claims and outcomes agree. Below it the model is too sure (overconfident), above it not sure enough.",
    "The bar from a point to the line is the gap. It is grey where chance alone could make it, coloured and hatched where it could not.",
    "The grey band is where points fall if the model is calibrated. Few rows make it wide: a point within it is no evidence of a fault.",
    "The grey bars are the share of rows in each group. A large gap with few rows matters less than a small gap with most of them.",
)

EXAMPLES = (
    Example("As claimed", "Points lie on the line or within the band, some above and some below.", "steady-v1"),
    Example("Too sure throughout", "Every range lies below the line, and the surer the model, the wider the gap.", "swift-v2"),
    Example("Crossing the line", "Above the line in one range and below it in another: the average gap hides both.", "mixed-v3"),
    Example("Hardly committed", "Nearly all rows sit close to a coin toss, although the outcomes allow for more.", "timid-v4"),
    Example("Almost always sure", "Most rows claim 95% or more, and far too many of those are wrong.", "certain-v5"),
)

SCORES = (
    Term(
        "Gap",
        "How far the average claim is from the average outcome. Below zero: overconfident.",
        "accuracy − mean confidence, in points",
        "Faults in opposite directions cancel out.",
    ),
    Term(
        "ECE",
        "Expected calibration error: the size of the gap in a bin, averaged over all rows. Lower is better.",
        "Σ over bins of (rows in the bin ÷ all rows) × |accuracy − mean confidence|",
        "Depends on the bins and is above 0 by chance alone; read it beside its chance range. Near 0 does not mean useful.",
    ),
    Term(
        "MCE",
        "Maximum calibration error: the largest gap of any bin. Lower is better.",
        "max over bins of |accuracy − mean confidence|",
        "A single bin decides it, often one with few rows; look at them.",
    ),
    Term(
        "Brier score",
        "Mean squared distance between the probabilities and what happened. Lower is better.",
        "mean of (probability − outcome)²; over all classes the squares are added up",
        "Mixes calibration with the skill to tell cases apart, so compare it between models on the same rows.",
    ),
    Term(
        "Log loss",
        "How surprised one is by what happened, given the probabilities. Lower is better.",
        "mean of −ln(probability given to what happened)",
        "A single outcome that was given 0 would make it infinite; such rows are counted and raised to 2⁻⁵².",
    ),
)

CAUTIONS = (
    "A verdict tests a claim; it cannot prove one. “No miscalibration in these rows” leaves room for faults that so few rows cannot show.",
    "Rows that were used to train or tune the model flatter it. Use rows that it has never seen.",
    "Intervals assume independent rows. Several rows of one person or event make the true intervals wider; name the column under Columns.",
    "Results hold for cases like these. Where the mix of cases or the share of outcomes changes, look again.",
    "Between two models log loss and Brier score decide. A lower ECE alone is no reason to prefer one.",
    "A remedy counts only as it performs on rows that it was not fitted on; the Fix page shows no other numbers.",
)

LIMITS = Table(
    ("What", "In full", "With restrictions", "Not"),
    (
        ("File", "up to 200 MB", "up to the operator's limit (1 GB unless changed): better as Parquet", "larger: calibcore reduce first"),
        ("Rows of a model", "10 million", "more, as a reduced profile", "–"),
        ("Models", "4 in one diagram", "8 side by side", "more than 8"),
        ("Classes", "20 drawn", "1,000 in the table", "more than 1,000"),
        ("Bins", "50", "–", "more than 50"),
        ("Groups", "20 drawn", "50 in the table", "more than 50"),
        ("Rows of a bin", "100 a page", "the rest by CSV", "–"),
    ),
)

PRIVACY = (
    "Files are held in this server's memory for your session and dropped when it ends; while a large file uploads, the server may use an "
    "unnamed temporary file. Nothing is logged or kept, and no usage statistics are sent."
)
SHARING = (
    "The address of a page holds settings only: never a file, a name, a group or an edge. To show a colleague what you see, send the "
    "address and the report; the colleague adds the same file, which the SHA-256 in the report identifies."
)

GLOSSARY = Table(
    ("Word", "Meaning"),
    (
        ("Accuracy", "Share of predictions that were right."),
        ("Band", "Where the points of a calibrated model fall, usually 95% of the time."),
        ("Base rate", "Share of rows in which the event happened."),
        ("Bin", "A range of confidences whose rows are looked at together."),
        ("Bonferroni, Holm", "Adjustments for looking at several groups at once: of many, one looks odd by chance."),
        (
            "Chance range",
            "What a calibrated model with the same confidences scores: typically (half of samples lie below), and up to (19 of 20 do).",
        ),
        ("Confidence", "Probability that the model gives to the class it predicts."),
        ("Cross-fitting", "Fitting on some rows and judging on others, in turn, until every row was judged once."),
        ("Equal mass", "Bins that hold about equally many rows; their edges come from the data."),
        ("Equal width", "Bins of the same width; the same for every model."),
        ("Interval", "A range that covers the true value in, say, 95 of 100 such samples."),
        ("Overconfident", "Right less often than it says."),
        ("Platt scaling", "Recalibration of a yes/no model by two numbers, a scale and a shift of the log-odds."),
        ("Points", "Difference between two percentages: from 90% to 79% is 11 points."),
        ("Positive view", "Judges the probability of yes itself: of the rows given 30%, were 30% yes?"),
        ("Recalibration", "Replacing each score by a better calibrated one."),
        ("Shifted", "All probabilities of an event too high, or all too low; often its base rate has changed."),
        ("Smallest gap seen", "The size of gap that these rows would show in four samples of five; a smaller one can be missed."),
        (
            "Temperature scaling",
            "Recalibration by one number T: above 1 makes all claims less extreme, below 1 more; no predicted class changes.",
        ),
        ("Top-label (Confidence) view", "Judges the predicted class: of the predictions made at 90%, were 90% right?"),
        ("Underconfident", "Right more often than it says."),
        ("Wilson interval", "An interval for a share of rows that holds up with few rows too."),
    ),
)


def about(label: str) -> str | None:
    """What a score means and does not tell, by the name that stands over its number; None for other numbers."""
    term = next((t for t in SCORES if t.name in (label, f"{label} score")), None)
    return None if term is None else f"{term.meaning} {term.limit}"


def questions(a: Analysis) -> tuple[Question, ...]:
    """Three questions about the diagram of an example; the answers are those of its analysis."""
    words = words_of(a)
    weighty = worst_range(a) or "None: no point lies outside the grey band, and by luck one may."
    return (
        Question(
            "Is the model too sure, not sure enough, both or neither?",
            f"The model {headline(a).removeprefix(plain(a.name)).strip()}. {shown_lines(a)[1]}",
        ),
        Question(f"Which {words.predicted} should worry you most?", weighty),
        Question("What would you do about it?", a.pattern.remedy),
    )
