"""
Sales: season, Easter and promotions
====================================

A shop plans its stock from monthly sales. They grow, they have a season, and they jump in the month
of Easter, which moves between March and April, and in months with a promotion. Both are known
ahead: the calendar says one, the shop decides the other.

The example forecasts three years with and without these inputs, and then asks the past how far the
bands can be trusted. The sales are made up, so that the true effects are known.
"""

# %%
# The data
# --------
# Twelve years of sales in thousands of euros. The effects multiply: Easter brings 10 %, a promotion
# 15 %, and what remains unexplained is 3 % a month.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from sparsebayes import Forecaster
from sparsebayes.plots import ForecastDisplay

easter_in_march = {2013, 2016, 2024}  # in all other years here it is in April
months = pd.date_range("2013-01", periods=144, freq="MS")
t, rng = np.arange(144), np.random.default_rng(0)
easter = [m.month == (3 if m.year in easter_in_march else 4) for m in months]
promotion = rng.random(144) < 0.15
inputs = pd.DataFrame({"easter": easter, "promotion": promotion}, months).astype(float)
season = 0.10 * np.cos(2 * np.pi * (t - 11) / 12) + 0.07 * np.cos(4 * np.pi * (t - 11) / 12)
effects = 0.10 * inputs.easter + 0.15 * inputs.promotion
noise = 0.03 * rng.standard_normal(144)
sales = np.exp(5.3 + 0.007 * t + season + effects + noise).rename("sales (1000 €)")

# %%
# Two forecasts
# -------------
# Nine years are known. A ``Forecaster`` finds the season in the dates and mixes several models by
# how well they would have forecast the past; the inputs are given for the past, and for the months
# ahead.

known, ahead = sales[:108], sales[108:]
without = Forecaster().fit(known)
informed = Forecaster().fit(known, inputs[:108])

fig, axes = plt.subplots(2, 1, figsize=(8, 6), sharex=True, sharey=True, layout="constrained")
for ax, model, X, title in (
    (axes[0], without, None, "dates only"),
    (axes[1], informed, inputs[108:], "with Easter and promotions"),
):
    band = model.predict_interval(36, X=X)
    inside = ahead.between(band.lower, band.upper).sum()
    width = (band.upper - band.lower).mean()
    error = (ahead - model.predict(36, X=X)).abs().mean()
    print(f"{title}: error {error:.0f}, width of the 95 % band {width:.0f}, {inside} of 36 inside")
    ForecastDisplay.from_forecaster(model, 36, X, truth=ahead, history=24, ax=ax)
    ax.set_title(title, fontsize="medium")
    ax.legend(loc="upper left", ncols=5, fontsize="small", frameon=False)
axes[0].set_ylim(300, 800)
plt.show()

# %%
# ``chosen_`` says which models have weight, and how they did in the past.

print(informed.chosen_)

# %%
# How far to trust it
# -------------------
# ``backtest`` goes through the three years month by month, forecasts the next twelve from each, and
# scores by the number of months ahead.

fig, (left, right) = plt.subplots(1, 2, figsize=(8, 3.4), layout="constrained")
months_ahead = np.arange(1, 13)
for model, X, name, color, marker in (
    (without, None, "dates only", "#D55E00", "s"),
    (informed, inputs, "with inputs", "#0072B2", "o"),
):
    found = model.backtest(sales, 12, X=X)
    style = {"color": color, "marker": marker, "markersize": 4, "label": name}
    left.plot(months_ahead, found.absolute_error, **style)
    right.plot(months_ahead, 100 * found.coverage, **style)
    print(
        f"{name}: {found.n_origins} origins, error {found.absolute_error.mean():.1f}, "
        f"{found.coverage.mean():.0%} inside the 95 % bands"
    )
right.axhline(95, color="black", linestyle="--", linewidth=1, label="95 %")
left.set(xlabel="months ahead", ylabel="mean absolute error (1000 €)", ylim=(0, None))
right.set(xlabel="months ahead", ylabel="inside the 95 % band (%)", ylim=(50, 102))
left.legend(frameon=False)
right.legend(frameon=False, loc="lower left")
plt.show()

# %%
# Inputs that are known ahead more than halve the error here, and nearly halve the width of the
# bands: Easter and promotions explain most of what the season cannot. ``backtest`` says so from
# data that are already there. See :doc:`/guide/forecasting`.
