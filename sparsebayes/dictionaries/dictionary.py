"""What a dictionary is, and several as one.

A dictionary is a description; `bind` gives the transform for signals of one shape.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from sparsebayes.dictionaries.transforms import StackedTransform, Transform

Array = np.ndarray


class InPieces(NamedTuple):
    """How a dictionary is used on pieces of a long signal.

    Attributes
    ----------
    dictionary : Dictionary
        With functions that are not too long.
    unit : int
        Pieces begin at multiples of it, so that all have the functions of the whole signal.
    reach : int
        Samples on either side that have a part in an estimate.
    """

    dictionary: Dictionary
    unit: int
    reach: int


class Dictionary(ABC):
    """A set of functions that signals of any shape can be made of.

    A dictionary of your own says whether it is `orthonormal` and writes `bind`. The other
    properties have defaults that fit functions on an even grid of samples.

    See Also
    --------
    Wavelet : The most usual one.
    Union : Several together.
    as_dictionary : A dictionary from its name.
    Transform : A dictionary on one grid of samples.

    Examples
    --------
    >>> from sparsebayes.dictionaries import DCT, Wavelet
    >>> both = Wavelet("haar") + DCT()
    >>> both.label, both.orthonormal
    ('haar + DCT', False)
    >>> both.bind((64,)).coefficient_shape
    (128,)
    """

    @property
    @abstractmethod
    def orthonormal(self) -> bool:
        """Whether its functions are orthonormal and as many as the samples."""

    @abstractmethod
    def bind(self, shape: tuple[int, ...], points: tuple[Array, ...] | None = None) -> Transform:
        """Make the transform for signals of one shape.

        Parameters
        ----------
        shape : tuple of int
            The shape of a signal.
        points : tuple of ndarray, or None, default=None
            Positions of the samples along each axis; None counts them from 0.

        Returns
        -------
        Transform
            Its functions on this grid.
        """

    @property
    def n_bases(self) -> int:
        """How many orthonormal bases its functions make up for a signal of one axis, or 0.

        With more axes there may be more: `Transform.n_bases` has their number.
        """
        return 1 if self.orthonormal else 0

    @property
    def members(self) -> tuple[Dictionary, ...]:
        """The dictionaries it was joined from; itself, if it was not."""
        return (self,)

    @property
    def label(self) -> str:
        """A short name, for titles."""
        return type(self).__name__

    @property
    def centred_on_samples(self) -> bool:
        """Whether there is one function at each sample, so that uneven ones need no even grid."""
        return False

    @property
    def needs_regular_grid(self) -> bool:
        """Whether gaps need a grid whose lengths can be halved until fewer than eight are left.

        The grid is then longer than the signal. Wavelets of a scale are translates on it.
        """
        return False

    def padded_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Tell up to which shape signals are continued before they are denoised by averaging.

        Where functions go around from one end to the other the ends need a margin between them.

        Parameters
        ----------
        shape : tuple of int
            The shape of a signal.

        Returns
        -------
        tuple of int
            At least as large.
        """
        return shape

    def in_pieces(self) -> InPieces | None:
        """Tell how pieces of a long signal are denoised.

        Returns
        -------
        InPieces or None
            Where pieces begin and how far they overlap; None if its functions reach too far.
        """
        return None

    def __add__(self, other: Any) -> Union:
        from sparsebayes.dictionaries.names import as_dictionary

        return Union((*self.members, *as_dictionary(other).members))

    def __radd__(self, other: Any) -> Union:
        from sparsebayes.dictionaries.names import as_dictionary

        return as_dictionary(other) + self


@dataclass(frozen=True)
class Union(Dictionary):
    """Several dictionaries as one, overcomplete; made by ``+``.

    A signal is a sum of parts, each of few functions of one dictionary: jumps by wavelets and tones
    by cosines, say.

    Parameters
    ----------
    parts : tuple of Dictionary
        The dictionaries; unions among them are taken apart.

    See Also
    --------
    as_dictionary : Understands "haar+dct" too.
    sparsebayes.basis.Union : The same for bases of inputs.

    Examples
    --------
    >>> from sparsebayes.dictionaries import DCT, Wavelet
    >>> Wavelet("haar") + DCT()
    Union(parts=(Wavelet(name='haar', level=None), DCT()))
    """

    parts: tuple[Dictionary, ...]

    orthonormal = False

    def __post_init__(self) -> None:
        given = self.parts if isinstance(self.parts, tuple) else ()
        if not given or not all(isinstance(part, Dictionary) for part in given):
            raise TypeError(
                "parts must be a tuple of dictionaries, such as (Wavelet('haar'), DCT()), "
                f"got {self.parts!r}."
            )

    @property
    def members(self) -> tuple[Dictionary, ...]:
        return tuple(member for part in self.parts for member in part.members)

    @property
    def label(self) -> str:
        return " + ".join(member.label for member in self.members)

    @property
    def centred_on_samples(self) -> bool:
        return all(member.centred_on_samples for member in self.members)

    @property
    def needs_regular_grid(self) -> bool:
        return any(member.needs_regular_grid for member in self.members)

    def bind(self, shape: tuple[int, ...], points: tuple[Array, ...] | None = None) -> Transform:
        return StackedTransform(tuple(member.bind(shape, points) for member in self.members))
