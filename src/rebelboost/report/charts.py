"""SVG charts, in the colours of the page (light, dark or print)."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from rebelboost.base.arrays import Floats
from rebelboost.base.markup import Html, join_html, tag
from rebelboost.base.text import number
from rebelboost.evaluation.intervals import Estimate

WIDTH, HEIGHT = 400, 280
"""Size of a chart: about the width of a phone; on wider screens, two charts stand side by side."""
LEFT, RIGHT, TOP, BOTTOM = 58, 22, 10, 38
BARS = 0.2
"""Height of the tallest bar of a histogram, as a share of the chart."""
CHARACTER = 8
"""Width of a character of a tick's label, with its share of the space between labels."""
MOST_POINTS = 90
"""Maximum number of points of a line; more are not visible."""


@dataclass(frozen=True)
class Axis:
    """A linear or logarithmic scale from numbers to pixels."""

    low: float
    high: float
    begin: float
    end: float
    log: bool = False

    def at(self, value: Any) -> Any:
        """Return the positions of values, in pixels."""
        low, high, value = (np.log10(v) if self.log else v for v in (self.low, self.high, value))
        return self.begin + (np.asarray(value) - low) / (high - low) * (self.end - self.begin)

    def ticks(self, most: int = 6) -> list[float]:
        """Return round numbers within the range."""
        return _powers(self.low, self.high) if self.log else _steps(self.low, self.high, most)


def _steps(low: float, high: float, most: int) -> list[float]:
    rough = (high - low) / most
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(m * power for m in (1, 2, 5, 10) if m * power >= rough * (1 - 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [i * step for i in range(first, last + 1)]


def _powers(low: float, high: float) -> list[float]:
    first, last = math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9)
    if last - first >= 2:
        every = 1 + (last - first) // 6
        return [10.0**i for i in range(first, last + 1, every)]
    scale = [m * 10.0**i for i in range(first - 1, last + 1) for m in (1, 2, 5)]
    ticks = [t for t in scale if low * (1 - 1e-9) <= t <= high * (1 + 1e-9)]
    return ticks if len(ticks) >= 2 else _steps(low, high, 4)


class Chart:
    """Two axes with lines and points."""

    def __init__(self, x: Axis, y: Axis, title: str, description: str) -> None:
        self.x, self.y = x, y
        self._title, self._description = title, description
        self._drawn: list[Html] = []
        self._legend: list[Html] = []

    def line(self, x: Floats, y: Floats, class_: str, label: str | None = None) -> None:
        """Draw a line through points, and add its label to the legend."""
        points = " ".join(
            f"{across:.1f},{up:.1f}".replace(".0", "")
            for across, up in zip(self.x.at(x).tolist(), self.y.at(y).tolist(), strict=True)
        )
        self._drawn.append(tag("polyline", points=points, class_=f"line {class_}"))
        self.name(label, class_)

    def band(self, x: Floats, low: Floats, high: Floats, class_: str) -> None:
        """Fill the space between two lines, within the chart, behind what is drawn later."""
        x, ends = np.asarray(x), [np.clip(y, self.y.low, self.y.high) for y in (low, high)]
        sides = (np.append(x, x[::-1]), np.append(ends[0], ends[1][::-1]))
        points = " ".join(
            f"{across:.1f},{up:.1f}"
            for across, up in zip(self.x.at(sides[0]), self.y.at(sides[1]), strict=True)
        )
        self._drawn.append(tag("polygon", points=points, class_=f"band {class_}"))

    def name(self, label: str | None, class_: str) -> None:
        """Add an entry to the legend, unless it is there already."""
        if not label:
            return
        key = tag("svg", tag("line", x1=0, y1=5, x2=18, y2=5, class_=f"line {class_}"))
        entry = tag("span", key, label)
        if entry not in self._legend:
            self._legend.append(entry)

    def point(self, x: float, y: float, class_: str, radius: float = 3.5, hint: str = "") -> None:
        """Draw a dot with a tooltip."""
        cx, cy = _px(self.x.at(x)), _px(self.y.at(y))
        dot = tag("circle", tag("title", hint), cx=cx, cy=cy, r=radius, class_=f"dot {class_}")
        self._drawn.append(dot)

    def stroke(self, start: tuple[float, float], end: tuple[float, float], class_: str) -> None:
        """Draw a straight line between two points."""
        (x1, x2), (y1, y2) = (
            (axis.at(a), axis.at(b))
            for axis, a, b in zip((self.x, self.y), start, end, strict=True)
        )
        self._drawn.append(
            tag("line", x1=_px(x1), y1=_px(y1), x2=_px(x2), y2=_px(y2), class_=class_)
        )

    def bars(self, edges: Sequence[float], counts: Sequence[float], hints: Sequence[str]) -> None:
        """Draw a histogram along the horizontal axis, a fifth of the chart high, behind the rest."""
        most = max(counts, default=0) or 1
        floor = HEIGHT - BOTTOM
        for (low, high), n, hint in zip(pairwise(edges), counts, hints, strict=True):
            begin, end = (min(max(side, self.x.low), self.x.high) for side in (low, high))
            left, right = _px(self.x.at(begin)), _px(self.x.at(end))
            tall = round(BARS * (floor - TOP) * n / most, 1)
            if n and right > left:
                bar = {"x": left, "y": floor - tall, "width": round(right - left - 0.6, 1)}
                drawn = tag("rect", tag("title", hint), **bar, height=tall, class_="density")
                self._drawn.append(drawn)

    def columns(self, edges: Floats, heights: Floats, class_: str) -> None:
        """Draw a histogram whose heights are values of the vertical axis."""
        floor = _px(self.y.at(self.y.low))
        for low, high, tall in zip(edges[:-1], edges[1:], heights, strict=True):
            left, right, top = _px(self.x.at(low)), _px(self.x.at(high)), _px(self.y.at(tall))
            if tall > 0:
                place = {"x": left, "y": top, "width": round(right - left - 0.6, 1)}
                self._drawn.append(
                    tag("rect", **place, height=round(floor - top, 1), class_=f"density {class_}")
                )

    def draw(
        self,
        x_title: str,
        y_title: str,
        as_text: Callable[[float], str],
        x_text: Callable[[float], str] | None = None,
    ) -> Html:
        """Return the figure, with a legend if lines have labels.

        `x_text` formats the numbers of the horizontal axis; by default, as those of the vertical one.
        """
        middle = (self.y.begin + self.y.end) / 2
        drawing = tag(
            "svg",
            self._grid(as_text, x_text or as_text),
            *self._drawn,
            _text((self.x.begin + self.x.end) / 2, HEIGHT - 4, x_title, text_anchor="middle"),
            _text(
                11, middle, y_title, text_anchor="middle", transform=f"rotate(-90 11 {middle:g})"
            ),
            viewBox=f"0 0 {WIDTH} {HEIGHT}",
            class_="chart",
            role="img",
            aria_label=self._description,
        )
        legend = tag("p", *self._legend, class_="legend") if self._legend else None
        return tag("figure", tag("figcaption", self._title), drawing, legend)

    def _grid(self, as_text: Callable[[float], str], x_text: Callable[[float], str]) -> Html:
        parts = []
        for tick in self.y.ticks():
            at = _px(self.y.at(tick))
            parts.append(tag("line", x1=LEFT, x2=WIDTH - RIGHT, y1=at, y2=at, class_="grid"))
            parts.append(_text(LEFT - 5, at + 4, as_text(tick), text_anchor="end"))
        for tick, shown in self._x_ticks(x_text):
            at = _px(self.x.at(tick))
            parts.append(tag("line", x1=at, x2=at, y1=TOP, y2=HEIGHT - BOTTOM, class_="grid"))
            parts.append(_text(at, HEIGHT - BOTTOM + 15, shown, text_anchor="middle"))
        return join_html(parts)

    def _x_ticks(self, x_text: Callable[[float], str]) -> list[tuple[float, str]]:
        """Return as many numbers as fit side by side, with their labels."""
        if self.x.log:
            return [(tick, number(tick)) for tick in self.x.ticks()]
        for most in (6, 4, 3, 2):
            labelled = [(tick, x_text(tick)) for tick in self.x.ticks(most)]
            widest = CHARACTER * max((len(text) for _, text in labelled), default=0)
            if widest * len(labelled) < WIDTH - LEFT:
                break
        return labelled


def across(low: float, high: float, *, log: bool = False) -> Axis:
    """Return the horizontal axis of a chart."""
    return Axis(low, high if high > low else low + 1, LEFT, WIDTH - RIGHT, log)


def upward(low: float, high: float, *, log: bool = False) -> Axis:
    """Return the vertical axis of a chart."""
    return Axis(low, high if high > low else low + 1, HEIGHT - BOTTOM, TOP, log)


def thinned(n_points: int) -> list[int]:
    """Select points that are evenly spaced on a log scale, including the first and the last."""
    return sorted({round(i) - 1 for i in np.geomspace(1, n_points, MOST_POINTS).tolist()})


def ruler(estimate: Estimate, marks: Sequence[tuple[float, str]]) -> Html:
    """Draw a value from 0 to 1 with its interval, and other values as marks."""

    def at(share: float) -> str:
        return f"{4 + 192 * min(max(share, 0.0), 1.0):.1f}"

    ticks = [
        tag("line", tag("title", hint), x1=at(mark), x2=at(mark), y1=3, y2=17, class_="mark")
        for mark, hint in marks
    ]
    return tag(
        "svg",
        tag("line", x1=4, x2=196, y1=10, y2=10, class_="rail"),
        *ticks,
        tag("line", x1=at(estimate.low), x2=at(estimate.high), y1=10, y2=10, class_="range"),
        tag("circle", cx=at(estimate.value), cy=10, r=4, class_="dot one"),
        viewBox="0 0 200 20",
        class_="ruler",
        aria_hidden="true",
    )


def _px(value: Any) -> float:
    return round(float(value), 1)


def _text(x: float, y: float, content: str, **attributes: str) -> Html:
    return tag("text", content, x=_px(x), y=_px(y), **attributes)
