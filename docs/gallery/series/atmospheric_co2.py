"""
Atmospheric CO₂: ten years ahead
================================

The record of carbon dioxide on Mauna Loa rises from year to year and breathes with the seasons: the
plants of the northern hemisphere take it up in summer. Climate and carbon models are compared with
such series, and a forecast without a band says nothing about whether a deviation is news.

The example fits the record up to 1991, gaps included, forecasts the ten years that followed, and
looks at what the bands are worth at each distance.
"""

# %%
# The data
# --------
# Weekly measurements, bundled with statsmodels, averaged over months. Months without a measurement
# stay missing: nothing has to be filled in.

import matplotlib.pyplot as plt
import numpy as np
from statsmodels.datasets import co2

from sparsebayes import Forecaster
from sparsebayes.plots import ForecastDisplay

weekly = co2.load_pandas().data["co2"].rename("CO₂ (ppm)")
monthly = weekly.resample("MS").mean()
known, later = monthly[:"1991"], monthly["1992":]
print(f"{len(known)} months, {known.isna().sum()} of them missing")

# %%
# The forecast
# ------------
# ``Forecaster()`` needs no orders, seasons or transformations. It tells what it mixed.

model = Forecaster().fit(known)
for candidate in model.candidates_[:4]:
    print(f"{candidate.weight:.2f} {candidate.name}")
mean, band = model.predict(len(later)), model.predict_interval(len(later))
inside = later.between(band.lower, band.upper)
print(f"{inside.sum()} of {len(later)} months in the 95 % band")
print(f"mean absolute error {(mean - later).abs().mean():.2f} ppm")

fig, (left, right) = plt.subplots(1, 2, figsize=(9, 4), width_ratios=(1, 1.5), layout="constrained")
left.plot(known, color="#5A5A5A", label="known")
left.plot(later, color="#D55E00", linewidth=1, label="came later")
left.set(ylabel="CO₂ (ppm)", title="the record")
left.set_xticks(np.array(["1960", "1980", "2000"], dtype="datetime64"), ["1960", "1980", "2000"])
left.legend(loc="upper left", frameon=False)
ForecastDisplay.from_forecaster(model, len(later), truth=later, history=48, ax=right)
right.set(ylabel="", title="ten years ahead")
right.legend(loc="upper left", frameon=False)
plt.show()

# %%
# Does the band know how far it sees?
# -----------------------------------
# ``backtest`` moves through the ten years month by month. From each it forecasts the next five
# years, with the model that was fitted up to 1991 and the values up to that month.

found = model.backtest(monthly, 60)
ahead = np.arange(1, 61)
error = np.sqrt(found.squared_error)
std = np.sqrt(np.mean(found["auto"].std ** 2, axis=0))
fig, ax = plt.subplots(figsize=(8, 3.4), layout="constrained")
ax.plot(ahead, std, "--", color="#0072B2", label="predicted standard deviation")
ax.plot(ahead, error, color="#D55E00", label="root mean squared error")
ax.set(xlabel="months ahead", ylabel="ppm", xlim=(0, 60), ylim=(0, None))
ax.legend(frameon=False)
plt.show()
print(f"{found.n_origins} origins, {found.coverage.mean():.0%} inside the 95 % bands")
for k in (1, 12, 60):
    print(f"{k:2d} months ahead: error {error[k - 1]:.2f} ppm, predicted std {std[k - 1]:.2f}")

# %%
# The forecast stays within a fraction of the seasonal swing for years. Its bands grow with the
# distance as they should, and are on the safe side: the past of the series cannot exclude that the
# rise slows or speeds up, and in these ten years it did neither. See :doc:`/guide/forecasting`.
