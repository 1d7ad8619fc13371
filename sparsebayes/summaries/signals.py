"""Summaries of denoised signals."""

from __future__ import annotations

from typing import Any

import numpy as np

from sparsebayes.summaries.summary import Fact, Summary, joined, unprinted


def denoiser(model: Any) -> Summary:
    """Of a Denoiser, which learns nothing from other signals."""
    n_samples = model.n_features_in_
    facts = [
        Fact("n_samples", "samples", f"{n_samples} in each signal", n_samples),
        Fact("dictionary", "dictionary", f"{model.dictionary}", f"{model.dictionary}"),
        Fact("method", "method", model.method, model.method),
        Fact("prior", "prior", f"{model.prior}", f"{model.prior}"),
        Fact("noise", "noise", f"{model.noise}", f"{model.noise}"),
        Fact("n_shifts", "shifts", f"{model.n_shifts}", model.n_shifts),
    ]
    return Summary("Denoiser: each row is a signal, denoised by itself", facts)


def denoised(result: Any) -> Summary:
    """Of what `denoise` found."""
    dictionaries = [
        " + ".join(member.label for member in one.members) for one in result.dictionaries
    ]
    shape = " × ".join(map(str, result.signal.shape))
    stds, count = np.sqrt(np.ravel(result.noise_variance)), len(result.fits)
    kept, evidence = np.ravel(result.n_active), np.ravel(result.log_evidence)
    size = sum(int(np.prod(fit.transform.coefficient_shape)) for fit in result.fits)
    averaged = result.method == "average"
    bases = f" over {result.n_bases} bases" if averaged else ""
    how = "kept by more than half" if averaged else "kept"
    facts = [
        Fact("shape", "samples", shape, list(result.signal.shape)),
        Fact("n_signals", "signals", f"{count}", count),
        Fact("dictionaries", "dictionary", " and ".join(dictionaries), dictionaries),
        Fact("method", "method", f"{result.method}{bases}", result.method),
        unprinted("n_bases", result.n_bases),
        Fact("noise_std", "noise std", joined([f"{std:.4g}" for std in stds]), stds),
        Fact("n_active", "coefficients", f"{kept.sum()} of {size} {how}", kept),
        Fact("log_evidence", "log evidence", joined([f"{v:.4f}" for v in evidence]), evidence),
        Fact(
            "stopped",
            "stopped",
            result.stop_reason if result.converged else f"NOT CONVERGED: {result.stop_reason}",
            result.stop_reason,
        ),
        unprinted("converged", result.converged),
    ]
    return Summary("Denoised: what was kept of the samples", facts)
