"""
Gas sensors: relevance vectors beside support vectors
=====================================================

Two sensor films answer differently to ammonia, ethanol and methane. From both readings an alarm
should tell which gas it is, and how sure it is: near zero concentration the three look alike.

A classifier in a battery-powered device should be small, since each vector that it keeps costs
memory and time. The example sets the relevance vectors of ``RVC`` beside the support vectors of
``SVC``, first in a picture, then as the number of training readings grows.
"""

# %%
# Two machines on the same readings
# ---------------------------------
# Both have the same kernel, an RBF with a length scale of 12 mV. This is the classical machine and
# quick; ``RVC()`` would choose likelihood and width on rows held out, and correct the probabilities
# by them. ``RVC`` has probabilities for all three classes in one model, ``SVC`` needs a calibration
# around it.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.metrics import log_loss
from sklearn.svm import SVC

from sparsebayes import RVC
from sparsebayes.basis import RBF
from sparsebayes.datasets import load_gases, make_gases
from sparsebayes.plots import ClassificationDisplay

gases = load_gases()
machine = RVC(RBF(12.0), link="logit", calibrate=None)
calibrated = CalibratedClassifierCV(SVC(gamma=1 / (2 * 12.0**2)), ensemble=False)
rvc = machine.fit(gases.data, gases.target)
svc = calibrated.fit(gases.data, gases.target)
support = svc.calibrated_classifiers_[0].estimator.support_vectors_

fig, axes = plt.subplots(1, 2, figsize=(10, 4.6), sharex=True, sharey=True, layout="constrained")
for ax, model, name, vectors in (
    (axes[0], rvc, "RVC: {} relevance vectors", rvc.relevance_vectors_),
    (axes[1], svc, "SVC: {} support vectors", support),
):
    display = ClassificationDisplay.from_estimator(
        model,
        gases.data,
        gases.target,
        ax=ax,
        colorbar=False,
        feature_names=("film a (mV)", "film b (mV)"),
    )
    display.relevance_.remove()
    style = {"facecolors": "none", "edgecolors": "black", "linewidths": 1.2, "zorder": 4}
    ax.scatter(*vectors.T, s=70, label="vectors kept", **style)
    ax.set_title(name.format(len(vectors)))
    ax.legend(loc="upper left", fontsize="small")
    print(name.format(len(vectors)))
axes[1].set_ylabel("")
plt.show()

# %%
# More readings
# -------------
# Errors and log losses on 4000 new readings, and the vectors that a prediction needs.

new, truth = make_gases(4000, random_state=1)
sizes, kept = (60, 240, 960), {"RVC": [], "SVC": []}
for size in sizes:
    X, y = make_gases(size, random_state=2)
    rvc, svc = machine.fit(X, y), calibrated.fit(X, y)
    kept["RVC"].append(len(rvc.relevance_vectors_))
    kept["SVC"].append(len(svc.calibrated_classifiers_[0].estimator.support_vectors_))
    for name, model in (("RVC", rvc), ("SVC", svc)):
        loss = log_loss(truth, model.predict_proba(new))
        print(
            f"{size:4d} readings, {name}: {kept[name][-1]:3d} vectors, "
            f"{np.mean(model.predict(new) != truth):.1%} wrong, log loss {loss:.3f}"
        )

fig, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
ax.loglog(sizes, kept["SVC"], "s--", color="#D55E00", label="SVC, support vectors")
ax.loglog(sizes, kept["RVC"], "o-", color="#0072B2", label="RVC, relevance vectors")
ax.set(xlabel="training readings", ylabel="vectors kept")
ax.set_xticks(sizes, sizes)
ax.minorticks_off()
ax.legend(frameon=False)
plt.show()

# %%
# Support vectors lie along the boundaries, and where classes overlap their number grows with that
# of the readings; relevance vectors are few, mostly typical readings, and stay few. Errors are
# about as many, here a little fewer. See :doc:`/guide/classification`, and
# :doc:`/howto/c_on_a_device` for such a model in C.
