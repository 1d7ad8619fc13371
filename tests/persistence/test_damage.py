"""Damaged files: one clear error each, or the same model if nothing that matters was hit."""

import json
import random
import warnings

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sparsebayes import RVC, RVR, Forecaster, persistence
from sparsebayes.basis import RBF
from sparsebayes.datasets import make_sinc
from sparsebayes.persistence import objects
from tests.classical import classical

from .crafting import closed, joined, opened, same, taken_apart


@pytest.fixture(scope="module")
def files():
    """Files of a few models."""
    X, y, _ = make_sinc(30, random_state=0)
    blobs, k = make_blobs(40, centers=2, cluster_std=4.0, random_state=1)
    labels = np.array(["no", "yes"], dtype=object)[k]
    walk = np.cumsum(np.random.default_rng(0).standard_normal(40))
    models = [
        RVR(RBF(2.0), augment=True).fit(X, y),
        classical(RBF(3.0)).fit(blobs, labels),
        make_pipeline(StandardScaler(), RVR(random_state=np.random.RandomState(3))).fit(X, y),
        Forecaster(RVR("linear"), lags=2, difference=1, transform=None).fit(walk),
    ]
    return [
        persistence.dumps(model, feature_names=list("ab")[: model.n_features_in_])
        for model in models
    ]


def flip(content, rng, files):
    """Some bits."""
    damaged = bytearray(content)
    for _ in range(rng.choice([1, 1, 2, 8, 100])):
        damaged[rng.randrange(len(damaged))] ^= 1 << rng.randrange(8)
    return bytes(damaged)


def flip_directory(content, rng, files):
    """Some bits at the end, where the directory is."""
    end = rng.choice([200, 1000])
    return content[:-end] + flip(content[-end:], rng, files)


def truncate(content, rng, files):
    """One end is missing."""
    cut = rng.randrange(1, len(content))
    return content[:cut] if rng.random() < 0.7 else content[cut:]


def overwrite(content, rng, files):
    """A block of something else."""
    size = rng.choice([1, 4, 64, 4096])
    at = rng.randrange(max(1, len(content) - size))
    return content[:at] + rng.randbytes(size) + content[at + size :]


def remove(content, rng, files):
    """A block is missing, or there twice."""
    size, at = rng.choice([1, 16, 512]), rng.randrange(len(content))
    return content[:at] + (content[at + size :] if rng.random() < 0.5 else content[at - size :])


def splice(content, rng, files):
    """The beginning of one file and the end of another."""
    other = rng.choice(files)
    return content[: rng.randrange(len(content))] + other[rng.randrange(len(other)) :]


def swap(content, rng, files):
    """Members of another file, or of each other."""
    members, comment = taken_apart(content)
    others = list(taken_apart(rng.choice(files))[0].values())
    for name in rng.sample(sorted(members), min(3, len(members))):
        members[name] = rng.choice([*others, members[rng.choice(sorted(members))]])
    return joined(members, comment)


def edit(content, rng, files):
    """The text of the schema."""
    members, comment = taken_apart(content)
    text = members["schema.json"].decode()
    for _ in range(rng.choice([1, 2, 5])):
        at = rng.randrange(len(text))
        text = text[:at] + rng.choice('0123456789"{}[],:aeE+-.\\ ') + text[at + 1 :]
    members["schema.json"] = text
    return joined(members, comment)


KINDS = [flip, flip_directory, truncate, overwrite, remove, splice, swap, edit]


def outcome(path, content):
    """ "refused", or the model; nothing else may happen."""
    path.unlink(missing_ok=True)
    path.write_bytes(content)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            return persistence.load_record(path)
        except persistence.ModelFileError as error:
            assert str(path) in str(error)
            assert "\n" not in str(error) and len(str(error)) < 600
            return "refused"


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_a_thousand_damaged_files(tmp_path, files, kind):
    rng, refused = random.Random(kind.__name__), 0
    for i in range(125):
        content = files[i % len(files)]
        found = outcome(tmp_path / "m.skops", kind(content, rng, files))
        if found == "refused":
            refused += 1
            continue
        ours = outcome(tmp_path / "whole.skops", content)
        assert same(objects.pack(found.model), objects.pack(ours.model))
        assert (found.feature_names, found.target_name) == (ours.feature_names, ours.target_name)
    assert refused > 60


def change(schema, rng):
    """Another value, name, order or number of entries somewhere in the schema."""
    places = []

    def collect(node):
        for key in node if isinstance(node, dict) else range(len(node)):
            places.append((node, key))
            if isinstance(node[key], (dict, list)):
                collect(node[key])

    collect(schema)
    node, key = rng.choice(places)
    other, place = rng.choice(places)
    kind = rng.randrange(5)
    if kind == 0:
        del node[key]
    elif kind == 1:
        node[key] = rng.choice([None, True, -1, 10**30, 1.5, "", "x", [], {}, ["x"], {"x": 1}])
    elif kind == 2:
        node[key] = json.loads(json.dumps(other[place]))
    elif kind == 3 and isinstance(node, list):
        node.extend(json.loads(json.dumps(node[key : key + 2])))
    else:
        node[key] = rng.choice(['"x"', "NaN", "7", "-1", "1e999", "null", "true", "[]", "7.npy"])


@pytest.mark.parametrize("count", [60, pytest.param(250, marks=pytest.mark.slow)])
def test_edited_files_whose_digest_fits(tmp_path, files, count):
    """Nothing tells that they were edited; what loads is a model all the same."""
    rng, refused = random.Random(0), 0
    for i in range(count):
        schema, members = opened(files[i % len(files)])
        for _ in range(rng.choice([1, 1, 3])):
            change(schema, rng)
        found = outcome(tmp_path / "m.skops", closed(schema, members))
        refused += found == "refused"
        if found != "refused":
            assert isinstance(found, persistence.StoredModel)
            assert isinstance(found.final, (RVR, RVC, Forecaster))
    assert refused > count / 2
