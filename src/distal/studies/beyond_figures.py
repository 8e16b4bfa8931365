"""The figures of the study beyond the paper, one for each question; chance is in all of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from distal.base.colours import LIGHT
from distal.evaluation.measures import BEST
from distal.studies.beyond_numbers import gain
from distal.studies.beyond_plan import CHANCE, CLIMBER, LEVELS, PHASES, RULE, SIZES, WIDER, Scale
from distal.studies.beyond_study import Outcome
from distal.studies.figures import blank, draw_curve
from distal.studies.intervals import Curve, Interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CAPTIONS = {
    "neurons": "Mean best EP so far, tested with binary neurons (left) and with sigmoid ones (right). Bands are 95 % "
    "intervals; chance has the scales of the rule that was evolved with these neurons.",
    "network": "Mean best EP by the number of hidden neurons: learners evolved for each network (left), and the rule "
    "and the climber of 20 in others (right). Bars are 95 % intervals; chance has the scales of the rule.",
    "maze": "Mean best EP (left) and share of trials that reached the goal (right) by the levels of the maze; learners "
    "were evolved for each. Bars are 95 % intervals; chance has the scales of the rule.",
    "keeping": "Mean EP of the episodes themselves, not the best so far: rules (left) and hill climbing (right) by what "
    "evolution judged them by. Every point is a mean over the episodes since the point before; bands are 95 % "
    "intervals; chance has the scales of the learner judged by its best episode.",
    "change": "Mean best EP of the phase so far; the goal moves at the dotted lines. Bands are 95 % intervals; chance "
    "has the scales of the rule evolved under change.",
    "transfer": "How much of the way from chance to the shortest way a rule comes in each maze: 100 % is a perfect "
    "agent, 0 % is chance there, with the rule’s own scales. A star: it beats chance; a circle: it is worse. In the smallest maze "
    "chance is nearly perfect, so that little is much of the way.",
}  # fmt: skip


def figure_of(outcome: Outcome, scale: Scale) -> Figure:
    """Draw the figure of a question."""
    return _FIGURES[outcome.question.name](outcome, scale)


def _panels(titles: Sequence[str], width: float = 7.6, height: float = 3.1) -> tuple[Figure, list[Axes]]:
    figure = blank(width, height)
    panels: Any = figure.subplots(1, len(titles), squeeze=False, sharey=len(titles) > 1)
    for axes, title in zip(panels[0], titles, strict=True):
        axes.set_title(title, loc="left", fontsize=9)
    return figure, list(panels[0])


def _legend(figure: Figure, columns: int = 3) -> None:
    """Explain the lines of all panels once, above them."""
    found: dict[str, Any] = {}
    for axes in figure.axes:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            found.setdefault(label, handle)
    figure.legend(list(found.values()), list(found), loc="outside upper center", ncols=columns)


def _episodes_axis(axes: Axes, curve: Curve) -> None:
    """Show the episodes on a logarithmic axis."""
    axes.set_xscale("log")
    axes.set_xlim(1, curve.episodes[-1])
    marks = [10**power for power in range(6) if 10**power <= curve.episodes[-1]]
    axes.set_xticks(marks, [f"{mark:,}" for mark in marks])
    axes.set_xlabel("episodes")


def _neurons(outcome: Outcome, scale: Scale) -> Figure:
    figure, panels = _panels([f"tested with {world.words}" for world in outcome.question.worlds])
    lines = (
        (f"{RULE}_base", "rule of binary neurons", "dsp", "-"),
        (f"{RULE}_sigmoid", "rule of sigmoid neurons", "dsp_resampled", "--"),
        (f"{CLIMBER}_base", "hill climbing of binary neurons", "hc", "-"),
        (f"{CLIMBER}_sigmoid", "hill climbing of sigmoid neurons", "hc_resampled", "--"),
    )
    natives = (f"{RULE}_base", f"{RULE}_sigmoid")
    for axes, world, native in zip(panels, outcome.question.worlds, natives, strict=True):
        chance = outcome.rows[f"{native}_in_{world.name}"].chance_curve
        draw_curve(axes, chance, "chance", "chance", "-")
        for name, label, colour, style in lines:
            draw_curve(axes, outcome.rows[f"{name}_in_{world.name}"].curve, label, colour, style)
        _episodes_axis(axes, chance)
    panels[0].set_ylabel("mean best EP")
    _legend(figure)
    return figure


def _points(axes: Axes, x: Sequence[float], values: Sequence[Interval], label: str, colour: str) -> None:
    """Draw means with their intervals, joined by a line."""
    means = [value.value for value in values]
    bars = [[value.value - value.low for value in values], [value.high - value.value for value in values]]
    axes.errorbar(
        x, means, yerr=bars, color=LIGHT[colour], marker="o", markersize=3.5, linewidth=1.4, capsize=2.5,
        label=label,
    )  # fmt: skip


def _by_size(
    axes: Axes, outcome: Outcome, x: Sequence[Sequence[float]], names: Sequence[str], of: str = BEST
) -> None:
    """Draw chance, rule and climber, each at its own x; the names are those of rows without the kind."""
    rules = [outcome.rows[f"{RULE}_{name}"].values for name in names]
    climbers = [outcome.rows[f"{CLIMBER}_{name}"].values for name in names]
    _points(axes, x[0], [row[f"{CHANCE}_{of}"] for row in rules], "chance", "chance")
    _points(axes, x[1], [row[of] for row in rules], "rule", "dsp")
    _points(axes, x[2], [row[of] for row in climbers], "hill climbing", "hc")


def _network(outcome: Outcome, scale: Scale) -> Figure:
    figure, panels = _panels(["evolved for the network", "those of 20"])
    own = [f"{'base' if size == 20 else f'hidden_{size}'}_in_hidden_{size}" for size in SIZES]
    for axes, sizes, names in (
        (panels[0], SIZES, own),
        (panels[1], WIDER, [f"base_in_hidden_{size}" for size in WIDER]),
    ):
        apart = [[factor * size for size in sizes] for factor in (0.97, 1, 1.03)]  # no bar hides another
        _by_size(axes, outcome, apart, names)
        axes.set_xscale("log")
        axes.set_xticks(sizes, [str(size) for size in sizes])
        axes.minorticks_off()
        axes.set_xlabel("hidden neurons")
    panels[0].set_ylabel("mean best EP")
    _legend(figure)
    return figure


def _evolved_for(levels: int) -> str:
    return "base" if levels == 3 else f"levels_{levels}"


def _maze(outcome: Outcome, scale: Scale) -> Figure:
    figure = blank(7.6, 3.1)
    best, reached = figure.subplots(1, 2)
    names = [f"{_evolved_for(levels)}_in_levels_{levels}" for levels in LEVELS]
    apart = [[levels + shift for levels in LEVELS] for shift in (-0.05, 0, 0.05)]
    _by_size(best, outcome, apart, names)
    perfect = [world.place.perfect for world in outcome.question.worlds]
    best.plot(LEVELS, perfect, color=LIGHT["ink"], linestyle=":", linewidth=1.2, label="shortest way")
    best.set_ylabel("mean best EP")
    _by_size(reached, outcome, apart, names, "reached")
    reached.set_ylabel("trials that reached the goal")
    reached.set_ylim(0, 1.02)
    for axes in (best, reached):
        axes.set_xticks(LEVELS)
        axes.set_xlabel("levels")
    _legend(figure, 4)
    return figure


def _keeping(outcome: Outcome, scale: Scale) -> Figure:
    figure, panels = _panels(["rules", "hill climbing"])
    lines = (
        ("base", "judged by the best episode", "paper", "-"),
        ("last", f"judged by the last {scale.last} episodes", "other", "-"),
        ("mean", "judged by all episodes", "positive", "--"),
    )
    for axes, kind in zip(panels, (RULE, CLIMBER), strict=True):
        chance = outcome.rows[f"{kind}_base_in_long"].chance_curve
        draw_curve(axes, chance, "chance", "chance", "-")
        for name, label, colour, style in lines:
            draw_curve(axes, outcome.rows[f"{kind}_{name}_in_long"].curve, label, colour, style)
        _episodes_axis(axes, chance)
        axes.axvline(scale.episodes, color=LIGHT["soft"], linestyle=":", linewidth=0.9)
    panels[0].set_ylabel("mean EP of an episode")
    _legend(figure, 4)
    return figure


def _change(outcome: Outcome, scale: Scale) -> Figure:
    figure, (axes,) = _panels([""], height=3.6)
    draw_curve(axes, outcome.rows["dsp_change_in_new"].chance_curve, "chance", "chance", "-")
    for name, label, colour, style in (
        ("dsp_change_in_new", "rule evolved under change", "other", "-"),
        ("dsp_base_in_new", "rule evolved without", "dsp", "-"),
        ("dsp_base_in_new_anew", "that rule, started anew", "dsp_resampled", "--"),
        ("hc_change_in_new", "hill climbing evolved under change", "hc", "-"),
        ("hc_base_in_new_anew", "hill climbing, started anew", "hc_resampled", "--"),
    ):
        draw_curve(axes, outcome.rows[name].curve, label, colour, style)
    for phase in range(1, PHASES):
        axes.axvline(phase * scale.episodes + 0.5, color=LIGHT["soft"], linestyle=":", linewidth=0.9)
    axes.set_xlim(1, PHASES * scale.episodes)
    axes.set_xlabel("episodes")
    axes.set_ylabel("mean best EP of the phase")
    _legend(figure)
    return figure


def _transfer(outcome: Outcome, scale: Scale) -> Figure:
    from matplotlib.patches import Rectangle  # noqa: PLC0415 - takes a third of a second

    figure, (axes,) = _panels([""], width=4.8, height=4.2)
    for row, own in enumerate(LEVELS):
        for column, world in enumerate(outcome.question.worlds):
            name = f"{RULE}_{_evolved_for(own)}_in_{world.name}"
            share = gain(outcome.rows[name], world.place.perfect)
            mark = {True: " *", False: " °", None: ""}[outcome.compared(name, CHANCE, BEST).better]
            # Tints of two colours that dark ground knows too, under ink.
            colour = LIGHT["negative" if share is not None and share < 0 else "positive"]
            tint = 0.75 * min(1.0, abs(share or 0))
            axes.add_patch(Rectangle((column, row), 1, 1, facecolor=colour, alpha=tint, linewidth=0))
            text = "–" if share is None else f"{share:.0%}".replace("-", "−") + mark
            axes.text(column + 0.5, row + 0.5, text, ha="center", va="center", color=LIGHT["ink"])
    axes.set_xlim(0, len(LEVELS))
    axes.set_ylim(len(LEVELS), 0)
    centres = [position + 0.5 for position in range(len(LEVELS))]
    axes.set_xticks(centres, [str(levels) for levels in LEVELS])
    axes.set_yticks(centres, [str(levels) for levels in LEVELS])
    axes.tick_params(length=0)
    axes.grid(visible=False)
    axes.set_xlabel("tested in a maze of so many levels")
    axes.set_ylabel("evolved for so many levels")
    return figure


_FIGURES: dict[str, Callable[[Outcome, Scale], Figure]] = {
    "neurons": _neurons,
    "network": _network,
    "maze": _maze,
    "keeping": _keeping,
    "change": _change,
    "transfer": _transfer,
}
