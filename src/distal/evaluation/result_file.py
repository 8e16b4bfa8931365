"""A result as JSON, and as an NPZ file with its curves and weights; both hold its settings and its chance.

NPZ holds plain arrays, which NumPy and other programs read; nothing in it is pickled.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from distal._version import __version__
from distal.base import checks, files, plugins
from distal.base.checks import (
    InputError,
    counted,
    fields,
    finite_numbers,
    instance,
    integer,
    one_of,
    reading,
    text,
)
from distal.engines.batch import EPs, best_so_far
from distal.evaluation.agent import MAX_NAME
from distal.evaluation.trials import checked_numbers
from distal.learners import KINDS, Learner, embedded, from_embedded
from distal.learners.chance import Chance
from distal.model.settings import Settings
from distal.tasks.sources import AnyTask
from distal.tasks.stored import StoredTask, restored, task_from_fields
from distal.tasks.switching import Switch
from distal.tasks.task import Task

if TYPE_CHECKING:
    from distal.evaluation.result import Result

FORMAT, VERSION = "distal-result", 1
SUFFIX = ".npz"
_CHANCE = "chance_"  # begins the names of the arrays of chance
_CURVES, _WEIGHTS = ("best", "ep"), ("hidden", "output")
_ARRAYS = (*_CURVES, *_WEIGHTS)
_MOST = 2**36  # bytes of a file; free memory mostly ends before
_ABOUT = ("made_by", "result", "chance")
R = TypeVar("R", bound="Result")


# ------------------------------------------------------------------ written


def to_dict(result: Result, curves: bool) -> dict[str, Any]:
    """Return the numbers and every setting, ready for JSON; all that `from_dict` needs with `curves`."""
    own, chance, difference = _numbers(result, curves), result.chance, result.difference
    if chance is not None and difference is not None:
        own["chance"] = {
            **chance.learner.numbers,
            **_numbers(chance, curves),
            "difference": difference.mean,
            "difference_standard_error": difference.standard_error,
            "p": difference.p,
        }
    return {**own, "episodes": result.episodes, **_settings(result)}


def _numbers(result: Result, curves: bool) -> dict[str, Any]:
    """Return the numbers of a learner, or of its chance, ready for JSON."""
    behaviour, phases = result.behaviour, result.phases
    numbers: dict[str, Any] = {
        "fitness": result.fitness,
        "standard_error": result.standard_error,
        "reached": result.reached,
        "best": result.final.tolist(),
        "checkpoints": {str(mark): value for mark, value in result.checkpoints.items()},
        "behaviour": None if behaviour is None else behaviour.to_dict(),
        **({} if phases is None else {"phases": phases.to_dict()}),
    }
    if curves:
        ep = None if result.ep is None else result.ep.tolist()
        numbers["curves"] = {"best": result.best.tolist(), "ep": ep}
        if result.maze is None:  # a maze and its steps decide both
            numbers |= {"cut": result.cut, "target": result.target}
    return numbers


def _settings(result: Result) -> dict[str, Any]:
    """Return every setting that made the numbers, ready for JSON."""
    return {
        "trials": result.trials,
        "resample": result.resample,
        **({} if result.switch is None else {"switch": result.switch.to_dict()}),
        "seed": result.seed,
        "engine": result.engine,
        "workers": result.workers,
        "learner": result.learner.kind,
        result.learner.key: embedded(result.learner),
        **result.settings.to_dict(),
        **result.task.fields(),
    }


def check_name(path: str | Path) -> Path:
    """Return the path of a result to write; refuse one that could not be written, or has another ending."""
    given = checks.path("the name of a file", path)
    if given.suffix != SUFFIX:
        raise InputError(f"cannot write {str(given)!r}: expected a name that ends in {SUFFIX}")
    files.check_target(given, files.NPZ)
    return given


def save(result: Result, path: str | Path) -> None:
    """Write a result with its curves and weights to an NPZ file, whole or not at all."""
    by, task = result.chance, result.task
    both = {"": result} if by is None else {"": result, _CHANCE: by}
    arrays = {f"{whose}{name}": getattr(one, name) for whose, one in both.items() for name in _ARRAYS}
    about = {
        "format": FORMAT,
        "version": VERSION,
        "made_by": __version__,
        "result": {
            **_settings(result), "cut": result.cut, "target": result.target, "senses_bits": task.senses_bits
        },
        "chance": None if by is None else {
            **by.learner.numbers, "cut": by.cut, "engine": by.engine, "workers": by.workers
        },
    }  # fmt: skip
    written = np.array(json.dumps(about, ensure_ascii=False, allow_nan=False))
    kept = {name: array for name, array in arrays.items() if array is not None}
    files.write_bytes(check_name(path), files.to_npz(about=written, **kept))


# ------------------------------------------------------------------ read


def from_dict(kind: type[R], data: object) -> R:
    """Read the data of `to_dict` with curves."""
    given = instance("data", data, dict, "the result of Result.to_dict(curves=True)")
    with reading("a result"):
        arrays: dict[str, Any] = {}
        for whose, one in (("", given), (_CHANCE, given.get("chance"))):
            if one is not None:
                if "curves" not in one:
                    raise InputError("it has no curves; write it with to_dict(curves=True)")
                arrays |= {f"{whose}{name}": one["curves"][name] for name in _CURVES}
        return _both(kind, given, given.get("chance"), arrays, task_from_fields(given))


def load(kind: type[R], path: str | Path, task: AnyTask) -> R:
    """Read a file of `save`, with its task, if that was made in Python."""
    given = checks.path("the name of a file", path)
    names = (*_ARRAYS, *(f"{_CHANCE}{name}" for name in _ARRAYS))
    try:
        data = files.read_bytes(given, "result", _MOST)
        about, arrays = files.from_npz(data, "the numbers of the result", names[:1], names[1:])
        kept = fields(about, FORMAT, VERSION, _ABOUT)
        own = instance("result", kept["result"], dict, "the settings of a result, by name")
        chance = kept["chance"]
        if chance is not None:
            instance("chance", chance, dict, "the settings of chance, by name")
        made = _made_again(task_from_fields(own), task, own)
        with reading("it"):
            return _both(kind, own, chance, arrays, made)
    except InputError as error:
        raise InputError(f"result {str(given)!r}: {error}") from None


def _both(
    kind: type[R],
    own: Mapping[str, Any],
    chance: Mapping[str, Any] | None,
    arrays: Mapping[str, Any],
    task: Task[Any],
) -> R:
    """Read a learner's result and that of its chance, which has the same settings."""
    _, trials, seed, resample = checked_numbers(1, own["trials"], own["seed"], own["resample"])
    shared = {
        "task": task, "settings": Settings.among(own), "trials": trials, "seed": seed, "resample": resample,
        "switch": Switch.from_dict(own["switch"]) if "switch" in own else None,
    }  # fmt: skip
    result = _one(kind, {**shared, **_run_by(own), "learner": _learner(own)}, own, arrays, "")
    if chance is None:
        return result
    learner = Chance(**{name: chance[name] for name in Chance.names})
    by = {**shared, **_run_by({**own, **chance}), "learner": learner}
    return replace(result, chance=_one(kind, by, chance, arrays, _CHANCE))


def _run_by(data: Mapping[str, Any]) -> dict[str, Any]:
    """Read the engine and its workers."""
    workers = None if data["workers"] is None else integer("workers", data["workers"], 1)
    return {"engine": text("engine", data["engine"], MAX_NAME), "workers": workers}


def _one(
    kind: type[R], known: dict[str, Any], given: Mapping[str, Any], arrays: Mapping[str, Any], whose: str
) -> R:
    """Read the curves and weights of a learner, or of its chance."""
    found = {name: arrays.get(f"{whose}{name}") for name in _ARRAYS}
    best, ep = _eps("best", found["best"]), None if found["ep"] is None else _eps("ep", found["ep"])
    rows, switch = known["trials"] * len(known["task"].goals), known["switch"]
    phase = best.shape[1] if switch is None else switch.every
    if len(best) != rows or not np.array_equal(best_so_far(best, phase), best):
        raise InputError(f"best has {counted(len(best), 'row')}, expected {rows} that never rise")
    if ep is not None and not np.array_equal(best_so_far(ep, phase), best):
        raise InputError("best and ep do not belong together: best is the lowest ep so far")
    cut = integer("cut", given.get("cut", 0), 0, best.size)
    result = kind(best=best, ep=ep, cut=cut, **known)
    weights: dict[str, NDArray[Any] | None] = {name: found[name] for name in _WEIGHTS}
    if (weights["hidden"] is None) != (weights["output"] is None):
        raise InputError("hidden or output weights are missing")
    for (name, own), shape in zip(weights.items(), result.network.shapes, strict=True):
        expected = (len(best), *shape)
        if own is not None and (
            own.shape != expected or own.dtype != np.float32 or not np.isfinite(own).all()
        ):
            raise InputError(f"{name} has the shape {own.shape}, expected finite weights {expected}")
    return replace(result, **weights)  # type: ignore[arg-type]


def _made_again(kept: Task[Any], given: AnyTask, data: Mapping[str, Any]) -> Task[Any]:
    """Return the task that a file describes, made again or given; else the description, with the reason."""
    if not isinstance(kept, StoredTask):
        return restored(kept, given, "the result is")
    kept.bits = data.get("senses_bits") is True
    try:
        return restored(kept, given, "the result is", "give the task again")
    except InputError as error:
        if given is not None:
            raise
        kept.unmade = str(error)
        return kept


def _learner(data: Mapping[str, Any]) -> Learner:
    """Read the learner of a result."""
    if isinstance(data["learner"], str) and data["learner"] not in KINDS:
        plugins.load_installed(plugins.LEARNERS)
        if data["learner"] not in KINDS:
            for own in data.values():
                if isinstance(own, dict) and "format" in own and "module" in own:
                    raise plugins.unknown("learner kind", data["learner"], own["module"])
    kind = KINDS[one_of("learner", data["learner"], KINDS)]
    return from_embedded(data[kind.key], kind)


def _eps(name: str, value: object) -> EPs:
    """Read EPs (trials, episodes), with the type that engines give them."""
    eps = finite_numbers(name, value, 2)
    if eps.dtype.kind == "f":
        return eps
    if np.abs(eps).max() > np.iinfo(np.int32).max:
        raise InputError(f"{name} holds {np.abs(eps).max()}, which is not an EP")
    return eps.astype(np.int32)
