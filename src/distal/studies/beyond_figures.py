"""The figures of the study beyond the paper, one for each question; chance is in all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from distal.base.colours import LIGHT
from distal.evaluation.measures import BEST
from distal.studies.beyond_outcome import QuestionOutcome, gain
from distal.studies.beyond_plan import CHANCE, CLIMBER, LEVELS, PHASES, RULE, SIZES, WIDER, Pair
from distal.studies.figures import bars, draw_curve, episodes_axis, grid, legend, title
from distal.studies.intervals import Interval
from distal.studies.study import Scale

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# The title and the caption of each.
CAPTIONS = {
    "neurons": ("With binary and with sigmoid neurons", "Mean best EP so far, tested with binary neurons (left) and with sigmoid ones (right). Bands are 95% "
    "intervals; chance has the scales of the rule that was evolved with these neurons."),
    "network": ("By the number of hidden neurons", "Mean best EP by the number of hidden neurons: learners evolved for each network (left), and the rule "
    "and the climber of 20 in others (right). Bars are 95% intervals; chance has the scales of the rule."),
    "maze": ("By the levels of the maze", "Mean best EP (left) and share of trials that reached the goal (right) by the levels of the maze; learners "
    "were evolved for each. Bars are 95% intervals; chance has the scales of the rule."),
    "keeping": ("Episode by episode", "Mean EP of the episodes themselves, not the best so far: rules (left) and hill climbing (right), by the "
    "fitness that evolution used. Every point is a mean over the episodes since the point before; bands are 95% "
    "intervals; chance has the scales of the learner judged by its best episode."),
    "change": ("Best EP of every phase", "Mean best EP of the phase so far; the goal moves at the dotted lines. Bands are 95% intervals; chance "
    "has the scales of the rule evolved under change."),
    "transfer": ("The share of the distance from chance to the shortest path", "The share of the distance from chance to the shortest path that a rule covers in each "
    "maze: 100% is a perfect agent, 0% is chance there, with the rule’s own scales. A star: the rule beats chance; a circle: it is "
    "worse. In the smallest maze chance is nearly perfect, so a small gain is a large share."),
}  # fmt: skip


def figure_of(outcome: QuestionOutcome, scale: Scale) -> Figure:
    """Draw the figure of a question."""
    return _FIGURES[outcome.question.name](outcome, scale)


def _panels(titles: Sequence[str], width: float = 7.6, height: float = 3.1) -> tuple[Figure, list[Axes]]:
    figure, panels = grid(1, len(titles), width, height, sharey=len(titles) > 1)
    for axes, text in zip(panels[0], titles, strict=True):
        title(axes, text)
    return figure, list(panels[0])


def _lines(
    axes: Axes, outcome: QuestionOutcome, beside: str, lines: Iterable[tuple[str, str, str, str]]
) -> None:
    """Draw the curves of rows (name, label, colour, style), and the chance of one of them."""
    draw_curve(axes, outcome.rows[beside].chance_curve, "chance", "chance", "-")
    for name, label, colour, style in lines:
        draw_curve(axes, outcome.rows[name].curve, label, colour, style)


def _neurons(outcome: QuestionOutcome, scale: Scale) -> Figure:
    figure, panels = _panels([f"tested with {world.words}" for world in outcome.question.worlds])
    natives = (f"{RULE}_base", f"{RULE}_sigmoid")
    for axes, world, native in zip(panels, outcome.question.worlds, natives, strict=True):
        there = f"in_{world.name}"
        _lines(axes, outcome, f"{native}_{there}", (
            (f"{RULE}_base_{there}", "rule of binary neurons", "dsp", "-"),
            (f"{RULE}_sigmoid_{there}", "rule of sigmoid neurons", "dsp_resampled", "--"),
            (f"{CLIMBER}_base_{there}", "hill climbing of binary neurons", "hc", "-"),
            (f"{CLIMBER}_sigmoid_{there}", "hill climbing of sigmoid neurons", "hc_resampled", "--"),
        ))  # fmt: skip
        episodes_axis(axes, outcome.rows[f"{native}_{there}"].chance_curve)
        axes.set_xlabel("episodes")
    panels[0].set_ylabel("mean best EP")
    legend(figure, 3)
    return figure


def _points(axes: Axes, x: Sequence[float], values: Sequence[Interval], label: str, colour: str) -> None:
    """Draw means with their intervals, joined by a line."""
    axes.errorbar(
        x, [one.value for one in values], yerr=bars(values), color=LIGHT[colour], marker="o", markersize=3.5,
        linewidth=1.4, capsize=2.5, label=label,
    )  # fmt: skip


def _by_size(
    axes: Axes, outcome: QuestionOutcome, x: Sequence[Sequence[float]], names: Sequence[str], of: str = BEST
) -> None:
    """Draw chance, rule and climber, each at its own x; the names are the names of rows without the kind."""
    rules = [outcome.rows[f"{RULE}_{name}"].values for name in names]
    climbers = [outcome.rows[f"{CLIMBER}_{name}"].values for name in names]
    _points(axes, x[0], [row[f"{CHANCE}_{of}"] for row in rules], "chance", "chance")
    _points(axes, x[1], [row[of] for row in rules], "rule", "dsp")
    _points(axes, x[2], [row[of] for row in climbers], "hill climbing", "hc")


def _network(outcome: QuestionOutcome, scale: Scale) -> Figure:
    figure, panels = _panels(["evolved for the network", "evolved for 20 neurons"])
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
    legend(figure, 3)
    return figure


def _evolved_for(levels: int) -> str:
    return "base" if levels == 3 else f"levels_{levels}"


def _maze(outcome: QuestionOutcome, scale: Scale) -> Figure:
    figure, [[best, reached]] = grid(1, 2, 7.6, 3.1)
    names = [f"{_evolved_for(levels)}_in_levels_{levels}" for levels in LEVELS]
    apart = [[levels + shift for levels in LEVELS] for shift in (-0.05, 0, 0.05)]
    _by_size(best, outcome, apart, names)
    perfect = [world.place.perfect for world in outcome.question.worlds]
    best.plot(LEVELS, perfect, color=LIGHT["ink"], linestyle=":", linewidth=1.2, label="shortest path")
    best.set_ylabel("mean best EP")
    _by_size(reached, outcome, apart, names, "reached")
    reached.set_ylabel("trials that reached the goal")
    reached.set_ylim(0, 1.02)
    for axes in (best, reached):
        axes.set_xticks(LEVELS)
        axes.set_xlabel("levels")
    legend(figure, 4)
    return figure


def _keeping(outcome: QuestionOutcome, scale: Scale) -> Figure:
    figure, panels = _panels(["rules", "hill climbing"])
    for axes, kind in zip(panels, (RULE, CLIMBER), strict=True):
        _lines(axes, outcome, f"{kind}_base_in_long", (
            (f"{kind}_base_in_long", "judged by the best episode", "paper", "-"),
            (f"{kind}_last_in_long", f"judged by the last {scale.last} episodes", "other", "-"),
            (f"{kind}_mean_in_long", "judged by all episodes", "positive", "--"),
        ))  # fmt: skip
        episodes_axis(axes, outcome.rows[f"{kind}_base_in_long"].chance_curve)
        axes.set_xlabel("episodes")
        axes.axvline(scale.episodes, color=LIGHT["soft"], linestyle=":", linewidth=0.9)
    panels[0].set_ylabel("mean EP of an episode")
    legend(figure, 4)
    return figure


def _change(outcome: QuestionOutcome, scale: Scale) -> Figure:
    figure, (axes,) = _panels([""], height=3.6)
    _lines(axes, outcome, "dsp_change_in_new", (
        ("dsp_change_in_new", "rule evolved under change", "other", "-"),
        ("dsp_base_in_new", "rule evolved without change", "dsp", "-"),
        ("dsp_base_in_new_anew", "that rule, restarted", "dsp_resampled", "--"),
        ("hc_change_in_new", "hill climbing evolved under change", "hc", "-"),
        ("hc_base_in_new_anew", "hill climbing, restarted", "hc_resampled", "--"),
    ))  # fmt: skip
    for phase in range(1, PHASES):
        axes.axvline(phase * scale.episodes + 0.5, color=LIGHT["soft"], linestyle=":", linewidth=0.9)
    axes.set_xlim(1, PHASES * scale.episodes)
    axes.set_xlabel("episodes")
    axes.set_ylabel("mean best EP of the phase")
    legend(figure, 3)
    return figure


def _transfer(outcome: QuestionOutcome, scale: Scale) -> Figure:
    from matplotlib.patches import Rectangle  # noqa: PLC0415 - takes a third of a second

    figure, (axes,) = _panels([""], width=4.8, height=4.2)
    for row, own in enumerate(LEVELS):
        for column, world in enumerate(outcome.question.worlds):
            name = f"{RULE}_{_evolved_for(own)}_in_{world.name}"
            share = gain(outcome.rows[name], world.place.perfect)
            mark = {True: " *", False: " °", None: ""}[outcome.comparisons[Pair(name, CHANCE, BEST)].better]
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
    axes.set_xlabel("maze tested in (levels)")
    axes.set_ylabel("maze evolved for (levels)")
    return figure


_FIGURES: dict[str, Callable[[QuestionOutcome, Scale], Figure]] = {
    "neurons": _neurons,
    "network": _network,
    "maze": _maze,
    "keeping": _keeping,
    "change": _change,
    "transfer": _transfer,
}
