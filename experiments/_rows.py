"""Every table and figure of the five documents that can be run, and where it is made again."""

from __future__ import annotations

from typing import NamedTuple


class Row(NamedTuple):
    """A table or figure.

    Attributes
    ----------
    document, number : str
        The document's short name, and what it is called there.
    experiment : str
        The module that makes it again, "" if there is none yet.
    also : str
        A second module, where one does not make all of it.
    """

    document: str
    number: str
    experiment: str
    also: str = ""

    @property
    def id(self) -> str:
        return f"{self.document} {self.number}"

    @property
    def experiments(self) -> tuple[str, ...]:
        """The modules that make it."""
        return tuple(name for name in (self.experiment, self.also) if name)


DOCUMENTS = {
    "T01": "M. Tipping, Sparse Bayesian learning and the relevance vector machine, 2001",
    "RQ05": "C. Rasmussen, J. Quiñonero-Candela, Healing the relevance vector machine, 2005",
    "KTH19": "A. Chmielewski-Anders et al., The RVM and sparsity of Bayesian learning, 2019",
    "QC04": "J. Quiñonero-Candela, Learning with uncertainty, 2004",
    "S08": "A. Schmolck, Smooth relevance vector machines, 2008",
}

# Figs. 6 to 9 of T01 are drawings; recordings that are not public have a stand-in.
ROWS = (
    Row("T01", "Fig. 1", "tipping2001.sinc"),
    Row("T01", "Fig. 2", "tipping2001.sinc"),
    Row("T01", "Fig. 3", "tipping2001.ripley"),
    Row("T01", "Fig. 4", "tipping2001.scales"),
    Row("T01", "Fig. 5", "tipping2001.scales"),
    Row("T01", "Table 1", "tipping2001.scales"),
    Row("T01", "Table 2", "tipping2001.scales"),
    Row("T01", "Table 4.4.1", "tipping2001.regression"),
    Row("T01", "η-RVM of 4.4.1", "tipping2001.scales"),
    Row("T01", "Table 4.4.2", "tipping2001.classification"),
    Row("T01", "Fig. 10", "tipping2001.log_odds"),
    Row("RQ05", "Fig. 1", "rasmussen2005.predictive"),
    Row("RQ05", "Fig. 2", "rasmussen2005.predictive"),
    Row("RQ05", "Table 1", "rasmussen2005.losses"),
    Row("RQ05", "Table 2", "rasmussen2005.losses"),
    Row("KTH19", "Fig. 1", "kth2019.regression"),
    Row("KTH19", "Fig. 2", "kth2019.regression"),
    Row("KTH19", "Fig. 3", "kth2019.regression"),
    Row("KTH19", "Table 1", "kth2019.classification", "kth2019.regression"),
    Row("KTH19", "Table 2", "kth2019.classification", "kth2019.regression"),
    Row("QC04", "Fig. 2.1", "quinonero2004.toy"),
    Row("QC04", "Fig. 2.2", "quinonero2004.local_minima"),
    Row("QC04", "Fig. 2.3", "quinonero2004.local_minima"),
    Row("QC04", "Fig. 2.5", "quinonero2004.adaptive_widths"),
    Row("QC04", "Fig. 2.6", "quinonero2004.mackey_glass"),
    Row("QC04", "Table 2.2", "quinonero2004.mackey_glass"),
    Row("QC04", "Fig. 2.8", "quinonero2004.subspace_kin40k"),
    Row("QC04", "Fig. 2.9", "quinonero2004.toy"),
    Row("QC04", "Fig. 3.1", "quinonero2004.reduced_rank"),
    Row("QC04", "Fig. 3.2", "quinonero2004.reduced_rank"),
    Row("QC04", "Table 3.1", "quinonero2004.reduced_rank"),
    Row("QC04", "Fig. 4.1", "quinonero2004.uncertain_input"),
    Row("QC04", "Fig. 4.2", "quinonero2004.forecasts"),
    Row("QC04", "Fig. 4.3", "quinonero2004.forecasts"),
    Row("QC04", "Fig. 4.4", "quinonero2004.noisy_inputs"),
    Row("QC04", "Fig. 4.5", "quinonero2004.noisy_inputs"),
    Row("QC04", "Fig. 4.6", "quinonero2004.noisy_inputs"),
    Row("QC04", "B Fig. 3", "quinonero2004.adaptive_widths"),
    Row("QC04", "B Fig. 4", "quinonero2004.adaptive_widths"),
    Row("QC04", "B Fig. 5", "quinonero2004.adaptive_widths"),
    Row("QC04", "C Fig. 2", "quinonero2004.subspace_mackey_glass"),
    Row("QC04", "C Fig. 3 left", "quinonero2004.subspace_mackey_glass"),
    Row("QC04", "C Fig. 3 right", "quinonero2004.subspace_mnist"),
    Row("QC04", "D Table 1", "quinonero2004.forecasts"),
    Row("QC04", "D Figs. 1-2", "quinonero2004.forecasts"),
    Row("QC04", "D Fig. 3", "quinonero2004.ph"),
    Row("QC04", "F Table 1", "quinonero2004.stereo"),
    Row("S08", "Fig. 2.2", "schmolck2008.polynomials"),
    Row("S08", "Fig. 2.7", "schmolck2008.dictionaries"),
    Row("S08", "Fig. 2.9", "schmolck2008.dictionaries"),
    Row("S08", "Fig. 2.11", "schmolck2008.one_function"),
    Row("S08", "Fig. 2.12", "schmolck2008.dictionaries"),
    Row("S08", "Fig. 2.13", "schmolck2008.dictionaries"),
    Row("S08", "Fig. 2.14", "schmolck2008.separation"),
    Row("S08", "Fig. 2.15", "schmolck2008.separation"),
    Row("S08", "Figs. 2.16-2.18", "schmolck2008.spindles"),
    Row("S08", "Table 2.1", "schmolck2008.table"),
    Row("S08", "Fig. 2.19", "schmolck2008.local_minima"),
    Row("S08", "Figs. 2.20-2.22", "schmolck2008.local_minima"),
    Row("S08", "Fig. 2.23", "schmolck2008.local_minima"),
    Row("S08", "Figs. 2.25-2.27", "schmolck2008.mcmc"),
    Row("S08", "Fig. 2.28", "schmolck2008.one_function"),
    Row("S08", "Figs. 3.1-3.2", "schmolck2008.gauss_snake"),
    Row("S08", "Figs. 3.3-3.4", "schmolck2008.pareto"),
)

IDS = {row.id for row in ROWS}
