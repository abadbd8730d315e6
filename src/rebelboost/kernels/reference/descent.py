"""L-BFGS [Liu and Nocedal 1989]: steps towards the minimum of a convex function, by its slopes alone."""

from rebelboost.base.arrays import Floats
from rebelboost.base.kernel_arrays import DescentOptions
from rebelboost.kernels.reference.ridge import in_eight_lanes

MEMORY = 8
"""Steps that are remembered."""
TOO_FAR = 0.5
"""A step is shortened if it ends where the loss rises with more than this share of the slope at its start."""


class Descent:
    """Steps towards the minimum of a convex function, by its slopes alone."""

    def __init__(self, start: Floats, options: DescentOptions) -> None:
        self.options = options
        self.trial = start
        """Where the slope is asked for next."""
        self.at = self.slope = self.direction = 0 * start
        self.fall = 0.0
        """Derivative along the direction at its start."""
        self.length, self.n_taken = 0.0, 0
        self.pairs: list[tuple[Floats, Floats, float]] = []
        """Steps s, changes of slope y and ⟨s, y⟩, the oldest first."""
        self.scale = 1.0

    def take(self, slope: Floats) -> bool:
        """Take the slope at the trial point; return whether there is a further one."""
        self.n_taken += 1
        is_last = self.n_taken >= self.options.most_steps
        if self.n_taken > 1:
            rise = _dot(self.direction, slope)
            if rise > -TOO_FAR * self.fall and not is_last:
                self.length *= self.fall / (self.fall - rise)
                self.trial = self.at + self.length * self.direction
                return True
            self._remember(self.trial - self.at, slope - self.slope)
        self.at, self.slope = self.trial, slope
        self.direction = -self._turned(slope)
        self.fall, self.length = _dot(self.direction, slope), 1.0
        # The first direction is that of the slope, whose length says little: go at least one step.
        has_settled = self.n_taken > 1 and not -self.fall > self.options.precision
        if is_last or has_settled:
            return False
        self.trial = self.at + self.direction
        return True

    def _remember(self, step: Floats, change: Floats) -> None:
        product, size = _dot(step, change), _dot(change, change)
        if product > 0 and size > 0:
            self.pairs = [*self.pairs, (step, change, product)][-MEMORY:]
            self.scale = product / size

    def _turned(self, slope: Floats) -> Floats:
        """The slope, multiplied by an estimate of the inverse of the curvature."""
        turned, shares = slope, []
        for step, change, product in reversed(self.pairs):
            share = _dot(step, turned) / product
            turned = turned - share * change
            shares.append(share)
        turned = self.scale * turned
        for (step, change, product), share in zip(self.pairs, reversed(shares), strict=True):
            turned = turned + (share - _dot(change, turned) / product) * step
        return turned


def _dot(a: Floats, b: Floats) -> float:
    return float(in_eight_lanes(a * b))
