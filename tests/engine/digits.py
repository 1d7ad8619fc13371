"""Posteriors with 28 digits, as many as Decimal has."""

from decimal import Decimal


class Digits:
    """``N(0, W⁻¹/β + Φ_a A⁻¹ Φ_aᵀ)``."""

    def __init__(self, problem, state):
        self.columns = [[Decimal(float(v)) for v in row] for row in problem.design.matrix]
        self.active, self.alpha = state.active, [Decimal(float(a)) for a in state.alpha]
        self.precisions = [Decimal(state.beta) * Decimal(float(w)) for w in problem.sites.weights]
        noise = [1 / precision for precision in self.precisions]
        size = len(noise)
        cov = [[noise[i] if i == j else Decimal(0) for j in range(size)] for i in range(size)]
        for i in range(size):
            for j in range(size):
                for m, alpha in zip(self.active, self.alpha, strict=True):
                    cov[i][j] += self.columns[i][m] * self.columns[j][m] / alpha
        self.factor = [[Decimal(0)] * size for _ in range(size)]
        for i in range(size):
            for j in range(i + 1):
                left = cov[i][j] - sum(
                    (self.factor[i][k] * self.factor[j][k] for k in range(j)), Decimal(0)
                )
                self.factor[i][j] = left.sqrt() if i == j else left / self.factor[j][j]
        self.target = self.half([Decimal(float(v)) for v in problem.sites.target])

    def half(self, vector):
        """``L⁻¹ v``, with C = LLᵀ."""
        out = []
        for i, value in enumerate(vector):
            left = value - sum((self.factor[i][k] * out[k] for k in range(i)), Decimal(0))
            out.append(left / self.factor[i][i])
        return out

    def evidence(self):
        """Without the normaliser of the samples."""
        fit = sum(v * v for v in self.target)
        log_det = 2 * sum(self.factor[i][i].ln() for i in range(len(self.target)))
        return float(-(fit + log_det + sum(v.ln() for v in self.precisions)) / 2)

    def s_and_q(self, m):
        column = self.half([row[m] for row in self.columns])
        s = sum(v * v for v in column)
        return float(s), float(sum(v * t for v, t in zip(column, self.target, strict=True)))

    def mean(self):
        return [self.s_and_q(m)[1] / float(a) for m, a in zip(self.active, self.alpha, strict=True)]

    def variance(self, row):
        """Of the function value with these basis functions, under the posterior."""
        own = [Decimal(float(v)) for v in row]
        pairs = list(zip(self.active, self.alpha, strict=True))
        prior = sum((own[i] ** 2 / a for i, (_, a) in enumerate(pairs)), Decimal(0))
        cross = [
            sum((own[i] * line[m] / a for i, (m, a) in enumerate(pairs)), Decimal(0))
            for line in self.columns
        ]
        return float(prior - sum(v * v for v in self.half(cross)))
