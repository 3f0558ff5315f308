"""The names that people give to labels, predictions and probabilities, and the words that say which class is positive."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Hashable, Iterable, Sequence
from functools import lru_cache
from typing import TypeGuard

from calibcore.checks import name_key

__all__ = [
    "bare",
    "beside_yes_and_no",
    "class_in_name",
    "counterpart",
    "is_bound_of",
    "is_named",
    "is_no_probability",
    "is_whole",
    "meant",
    "nearest",
    "plain",
    "polarity",
    "shortened",
    "wrong_or_right",
]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_EXACT: dict[str, frozenset[str]] = {
    "label": _words(
        "y_true true_label label_true truelabel actual actual_label actual_class ground_truth groundtruth gold gold_label truth true_class"
        " obs observed target targets label labels y outcome label_value correct_answer answer from resolution ftr class y_test"
        " class_label true true_value correct_label y_actual real_class"
    ),
    "predicted": _words(
        "y_pred y_hat yhat pred pred_label label_pred predicted predicted_label predictedlabel predicted_class prediction predictions"
        " prediction_label pred_class predict response guess scored_labels into bestanswer extracted_answer picked pgr_1 em_classification"
        " y_predicted"
    ),
    "probability": _words(
        "y_prob y_proba y_probs y_score prob probs proba probability p p1 p_1 prob_1 prob1 proba_1 score predicted_probability"
        " predicted_prob predicted_proba pred_proba pred_prob y_pred_proba y_pred_prob risk predicted_risk pd pop frcst forecast"
        " pre_1 scored_probabilities em_eventprobability probability_yes estimated_probabilities"
    ),
    "confidence": _words(
        "confidence conf confidences prediction_score max_prob max_probability top_prob msp confidence_level em_probability"
    ),
    "correct": _words("correct is_correct hit tp acc accuracy grade prediction_correct"),
    "model": _words("model model_name model_id model_version version method experiment_name forecaster_username"),
    "weight": _words("weight weights sample_weight case_weight wt ead exposure"),
    "group": _words("group fold split usage resample type_of_set dataset site hospital race sex gender category subgroup region"),
    "ignore": _words("inst# rowindex row config rawprediction threshold positive_class prediction_status warn timestamp"),
    "logit": _words("logit logits log_odds logodds margin decision_function raw_score decision"),
}
_PATTERN: dict[str, str] = {
    "label": r".*_outcome|.*_won|.*_flag|rlz.*",
    "predicted": r"prediction\(.*\)|prediction_\(.*\)",
    "probability": r".*_(prob|proba|probs|probability)|(prob|proba|probability)_.*|.*predprobs.*|p\(.+\)|prob\d+|.*prob\d+",
    "confidence": r"(?!1_|one_minus_|no_|not_).*_confidence",
    "correct": r"(?!(?:.*_)?(?:not|no|non)_).*_correct",
    "id": r"id|.*_id|id_.*|ids|.*_ids|uid|guid|uuid|key|index|case|row|sample|sample_name|image|image_path|img|file|filename|file_name"
    r"|path|name|subject|patient|inst#|question_id|visit|.*_number",
    "time": r".*date.*|.*time.*|.*timestamp.*|ts|year|month|day",
    "logit": r"logits?_.*|.*_logits?|.*_margin",
    "percent": r"(?!.*percentile).*(percent|per_cent|pct|%).*|(.*_)?(perc|prct)",
}
_INDEX = r"|unnamed: \d+|__index_level_\d+__|\(column \d+\)"
_PROBABILITY_WORDS = (
    r"^(?:predicted|pred|y|est)?_?(?:probability|proba|probs|prob|p|pr|score)_?(?:of|pred)?_"
    r"|_(?:predicted_)?(?:probability|proba|probs|prob|predprobs|score|risk)$|predprobs.*$"
)
_SPREAD = r"(?:std|sd|stdev|stderr|sem|var|variance|entropy|threshold|cutoff|brier|logloss)"  # said of a probability, and none
_BOUND = r"(?:lo|low|lower|hi|high|upper|min|max|lb|ub|se|ci)(?:_?(?:bound|ci|limit|low|high|lower|upper|\d+%?))*"
_STANDARD_ERROR = r"(?:.*_)?(?:se|std_?err(?:or)?)|se_(?:fit|pred|mean)"
_INTERVAL = r"(?:.*_)?(?:ci|conf|conf_int|cred|pi)_?(?:lo|low|lower|hi|high|upper|lb|ub)|(?:.*_)?ci_?\d\d(?:_\d+)?%?"
_INTERVAL += r"|lwr|upr|lower|upper|(?:lower|upper)_(?:ci|bound|\d\d%?)"
_NO_PROBABILITY = (
    rf"(?:.*_)?{_SPREAD}|p_?val(?:ue)?|loss|auc|aucs|prior|base_rate|prevalence|noise|rank|quantile|percentile|uncertainty|similarity|distance"
    r"|weight|iou|accuracy|precision|recall|f1|f1_score|specificity|sensitivity|brier|brier_score|ece|mce|gini|kappa|mcc"
)
_BEFORE_CLASS = r"(predicted_|pred_|y_|est_|cal_)?(probability|proba|probs|prob|p|pr|score|pred|scored_probabilities)(_of|_for)?(_class)?"
_AFTER_CLASS = r"(predicted_|pred_)?(probability|proba|probs|prob|score|risk)"
_POSITIVE = _words("true t yes y 1 ja oui si sí sim pos positive event default defaulted death dead died")
_NEGATIVE = _words(
    "false f no n 0 nein nee non nej não neg negative nonevent non_event no_event none_event nondefault non_default no_default not_default"
    " alive survived censored"
)
_COUNTERPARTS: dict[str, str] = dict(
    re.findall(
        r"(\S+)/(\S+)",
        "false/true f/t no/yes n/y 0/1 negative/positive neg/pos nein/ja nee/ja nej/ja non/oui não/sim alive/dead survived/died"
        " censored/event nonevent/event nondefault/default",
    )
)
_COUNTERPARTS_BACK = {yes: no for no, yes in reversed(_COUNTERPARTS.items())}
_RIGHT = _words("1 1.0 true t yes y correct right c pass")
_WRONG = _words("0 0.0 false f no n incorrect wrong i fail")


def shortened(text: str) -> str:
    """A value for a sentence: long ones are cut."""
    return text if len(text) <= 40 else f"{text[:39]}…"


@lru_cache(maxsize=1 << 15)
def plain(name: str) -> str:
    """A name for comparing: lower case, blanks, dots and dashes as ``_``, none at the ends."""
    return re.sub(r"[ .\-]", "_", name.strip().lower()).strip("_")


def is_named(name: str, role: str, *, exact: bool = False) -> bool:
    """Whether a column's name is one that people use for a role; ``exact`` leaves the looser patterns out."""
    key = plain(name)
    if role == "index":
        return re.fullmatch(_INDEX, name.strip().lower()) is not None
    if key in _EXACT.get(role, ()) or (role == "probability" and _without_percent(key) in _EXACT[role]):
        return True
    if role == "probability" and (key in _EXACT["confidence"] or re.fullmatch(rf".*_{_SPREAD}", key)):  # max_prob, prob_std
        return False
    if role == "id" and re.search(r"[a-z]I[dD]$", name.strip()):  # PassengerId
        return True
    return not exact and role in _PATTERN and re.fullmatch(_PATTERN[role], key) is not None


def _without_percent(key: str) -> str:
    """The name of a probability without the word that says percent: "pd" of ``pd_percent`` and ``pd(%)``."""
    return re.sub(r"_?(in_)?\(?(percentage|percent|per_cent|perc|pct|prct|%)\)?_?", "_", key).strip("_") if _says_percent(key) else key


def _says_percent(key: str) -> bool:
    return re.fullmatch(_PATTERN["percent"], key) is not None


def is_no_probability(name: str) -> bool:
    """Whether a name says that a number between 0 and 1 is something else: ``p_value``, ``prob_std``, ``base_rate``."""
    return re.fullmatch(_NO_PROBABILITY, plain(name)) is not None


def is_bound_of(name: str, names: Collection[str]) -> bool:
    """Whether a column is a limit or an error of one of ``names`` (as `plain` gives them): ``prob_lower`` beside ``prob``.

    Some names say so by themselves, whatever stands beside them: ``se.fit``, ``conf.low``, ``mean_ci_upper``.
    """
    key = plain(name)
    if re.fullmatch(rf"{_STANDARD_ERROR}|{_INTERVAL}", key):
        return True
    found = re.fullmatch(rf"(.+?)_{_BOUND}", key)
    return found is not None and found[1] in names


def nearest(name: str, available: Iterable[str]) -> tuple[str, ...]:
    """The names that are nearly the given one, the nearest first.

    Examples
    --------
    >>> nearest("y_tru", ["site", "prob", "y_true"])
    ('y_true',)
    """
    by_key: dict[str, list[str]] = {}
    for n in available:
        by_key.setdefault(plain(n), []).append(n)
    return tuple(n for key in difflib.get_close_matches(plain(name), by_key, 3, 0.75) for n in by_key[key])


def meant(name: str, available: Iterable[str]) -> str:
    """A sentence with the column whose name is nearly the given one, or nothing.

    Examples
    --------
    >>> meant("y_tru", ["site", "prob", "y_true"])
    "Is 'y_true' meant? "
    """
    found = nearest(name, available)
    return f"Is {found[0]!r} meant? " if found else ""


def bare(name: str) -> str:
    """What a probability column is about: "fraud" of ``fraud_probability``, "gbm" of ``prob_gbm``."""
    key = plain(name)
    stripped = re.sub(_PROBABILITY_WORDS, "", key)
    return stripped.strip("_")


def class_in_name(column: str, values: Sequence[str]) -> str | None:
    """The one class that a probability is named after: "no" of ``P(no)``, ``prob_no``, ``no_probability`` and ``no``."""
    key = re.sub(r"[()=]+", "_", plain(column)).strip("_")
    found = [v for v in values if (word := plain(v)) and (key == word or _named_after(key, word))]
    return found[0] if len(found) == 1 else None


def _named_after(key: str, word: str) -> bool:
    before, after = key.removesuffix(word), key.removeprefix(word)
    apart = before.endswith("_") or word.isdigit()
    return (before != key and apart and re.fullmatch(_BEFORE_CLASS, before.strip("_")) is not None) or (
        after != key and after.startswith("_") and re.fullmatch(_AFTER_CLASS, after.strip("_")) is not None
    )


def polarity(names: Sequence[str]) -> str | None:
    """The positive one of one or two class names, if the words say so: yes of yes/no, 1 of 0/1 and −1/1."""
    words = {n: _word(n) for n in names}
    if len(names) == 1:
        return next((n for n, w in words.items() if w in _POSITIVE), None)
    if len(names) != 2:
        return None
    first, second = names
    if {name_key(n) for n in names} == {-1.0, 1.0}:
        return next(n for n in names if name_key(n) == 1.0)
    for yes, no in ((first, second), (second, first)):
        affirmed = words[yes] in _POSITIVE and words[no] in _NEGATIVE
        if affirmed or words[no] in _negations(words[yes]) or _same_but_sign(words[yes], words[no]):
            return yes
    return None


def counterpart(name: str) -> str | None:
    """The word for yes that belongs to a word for no, or the other way round; None for other names.

    Examples
    --------
    >>> counterpart("False"), counterpart("no"), counterpart("0"), counterpart("not_sick"), counterpart("cat")
    ('True', 'yes', '1', 'sick', None)
    """
    word = _word(name)
    if name_key(name) == -1.0:
        return "1"
    found = _COUNTERPARTS.get(word) or _COUNTERPARTS_BACK.get(word)
    if found is None:
        stem = re.fullmatch(r"(?:not|no|non)[ _-](.+)", name.strip(), re.IGNORECASE)
        return stem[1] if stem else None
    return found.upper() if name.isupper() and len(word) > 1 else found.capitalize() if name[:1].isupper() else found


def beside_yes_and_no(names: Sequence[str]) -> tuple[list[str], tuple[str, str] | None]:
    """Values that are no outcome beside two that are, such as 0.5 or MKT beside 0 and 1, and these two; 2 would be a third class."""
    pairs = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :] if polarity([a, b]) is not None]
    odd = [v for v in names if pairs and v not in pairs[0]]
    good = pairs and len(names) <= 8 and not any(is_whole(name_key(v)) for v in odd)
    return (odd, pairs[0]) if good else ([], None)


def _word(name: str) -> str:
    key = name_key(name)
    return str(int(key)) if is_whole(key) else plain(name).replace("'", "")


def is_whole(key: Hashable) -> TypeGuard[int | float]:
    """Whether a `name_key` is a whole number."""
    return isinstance(key, int) or (isinstance(key, float) and key.is_integer())


def _negations(word: str) -> set[str]:
    return {p + word for p in ("not_", "no_", "non_", "non", "un")}


def _same_but_sign(yes: str, no: str) -> bool:
    """tested_positive / tested_negative: equal but for the last or first word."""
    for cut in (str.rpartition, str.partition):
        a, b = cut(yes, "_"), cut(no, "_")
        word, rest = (2, 0) if cut is str.rpartition else (0, 2)
        if (
            a[1]
            and b[1]
            and a[rest] == b[rest]
            and a[word] in ("positive", "pos", "true", "yes")
            and b[word] in ("negative", "neg", "false", "no")
        ):
            return True
    return False


def wrong_or_right(name: str) -> bool | None:
    """True for words that mean right (1, true, Correct, C), False for wrong (0, Wrong, I), None for others."""
    word = name.strip().casefold()
    return True if word in _RIGHT else False if word in _WRONG else None
