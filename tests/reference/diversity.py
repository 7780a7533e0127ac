"""The ring of recent action categories and its entropy (domain.md section 4, point 4)."""

import collections
import math


class CategoryRing:
    """The categories of the last `window` actions, oldest out first."""

    def __init__(self, window):
        self.entries = collections.deque()
        self.window = window
        self.counts = [0, 0, 0]

    def push(self, category):
        if len(self.entries) == self.window:
            self.counts[self.entries.popleft()] -= 1
        self.entries.append(category)
        self.counts[category] += 1

    def too_uniform(self, min_bits):
        """Whether the entropy lies under `min_bits`; never with fewer than three entries.

        Decided from the counts with a tolerance, so that a 50/50 window (exactly 1 bit) is no penalty
        whatever the last bit of a logarithm.
        """
        n = len(self.entries)
        if n < 3:
            return False
        information = n * math.log2(n) - sum(c * math.log2(c) for c in self.counts if c > 0)
        return information < min_bits * n - 1e-9 * n
