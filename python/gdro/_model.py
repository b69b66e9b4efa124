"""Saved models: those of the program in Python, those of Python in the program, and ONNX."""

from __future__ import annotations

import json
import os
import warnings
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from . import _gdro
from ._certificate import Certificate
from ._estimators import GroupDROClassifier, GroupDRORegressor, _GroupDRO
from ._groups import is_missing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ._types import ColumnLike, Labels, Table


class TableEncoder(TransformerMixin, BaseEstimator):
    """How the program makes features of a table: the first step of what :func:`load` gives.

    Numbers are standardised, texts become indicators, both as in training. ``transform`` takes a
    pandas, polars or Arrow table with the columns of the training by name; others are ignored. Booleans
    are the texts ``true`` and ``false`` in the spelling of the training, and dates (``datetime64``) are
    days since 1970-01-01, as the program reads them.

    Parameters
    ----------
    encoding : str
        The encoding of a ``model.json``, as JSON.
    na : sequence of str, default=()
        What means a missing cell, besides the empty text and NaN, as the program's ``--na`` takes it:
        ``"?"``, or ``"age=0"`` for the column ``age`` alone.

    Raises
    ------
    ValueError
        For what is no encoding, where it is used.

    Examples
    --------
    >>> import pandas as pd
    >>> from gdro import TableEncoder
    >>> age = '{"kind": "number", "name": "age", "mean": 40.0, "deviation": 10.0}'
    >>> encoder = TableEncoder('{"columns": [%s], "constant": false}' % age)
    >>> encoder.transform(pd.DataFrame({"age": [50, 35], "name": ["a", "b"]})).toarray().tolist()
    [[1.0], [-0.5]]
    """

    def __init__(self, encoding: str, na: Sequence[str] = ()) -> None:
        self.encoding = encoding
        self.na = na

    def _encoder(self):
        return _gdro.Encoder(self.encoding, list(self.na))

    def __sklearn_is_fitted__(self):
        return True

    def fit(self, X: Table | None = None, y: ColumnLike | None = None) -> TableEncoder:
        """Does nothing: the encoding is known.

        Parameters
        ----------
        X : ignored
        y : ignored

        Returns
        -------
        TableEncoder
            The encoder itself.
        """
        return self

    def get_feature_names_out(self, input_features: Any = None) -> Labels:
        """Names of the features: ``age``, ``education=HS-grad``, ….

        Parameters
        ----------
        input_features : ignored

        Returns
        -------
        ndarray of str of shape (d,)
        """
        encoder = self._encoder()
        names = encoder.feature_names()
        return np.array(names[:-1] if encoder.has_constant() else names, dtype=object)

    def transform(self, X: Table) -> sparse.csr_matrix:
        """The features; texts that training never saw are 0 in all levels, with a warning.

        Parameters
        ----------
        X : table of n rows
            pandas, polars or Arrow, with the columns of the training by name.

        Returns
        -------
        sparse matrix of shape (n, d)

        Raises
        ------
        ValueError
            Where a column is missing, or a cell that training has no answer to.
        """
        encoder = self._encoder()
        columns = [(name, _cells(X, name, text, self.na)) for name, text in encoder.columns()]
        levels = {c["name"]: c.get("levels", ()) for c in json.loads(self.encoding)["columns"]}
        columns = [(name, _spelled(cells, levels.get(name, ()))) for name, cells in columns]
        found = encoder.encode(columns)
        for name, count in found["unseen"].items():
            warnings.warn(
                f"column {name!r}: {count} rows with a text that training never saw",
                UserWarning,
                stacklevel=2,
            )
        width = len(encoder.feature_names())
        parts = (found["data"], found["indices"], found["indptr"])
        matrix = sparse.csr_matrix(parts, shape=(len(found["indptr"]) - 1, width))
        return matrix[:, : width - 1] if encoder.has_constant() else matrix


def _cells(table, name, text, na):
    names = list(table.column_names if hasattr(table, "column_names") else table.columns)
    if name not in names:
        some = ", ".join(map(repr, names[:8]))
        raise ValueError(f"no column {name!r}, which the model needs: found {some}")
    column = table.column(name) if hasattr(table, "column_names") else table[name]
    if not text:
        if hasattr(column, "to_numpy"):
            try:
                column = column.to_numpy(zero_copy_only=False)
            except TypeError:
                column = column.to_numpy()
        try:
            if np.asarray(column).dtype.kind == "M":
                return _days(np.asarray(column))
            return np.ascontiguousarray(column, dtype=np.float64)
        except (TypeError, ValueError):
            try:
                return _parsed([_text(value) for value in column.tolist()], name, na)
            except (AttributeError, TypeError, ValueError):
                raise ValueError(
                    f"column {name!r}: expected numbers, or dates as datetime64 without a time zone"
                ) from None
    return [_text(value) for value in (column.to_pylist() if hasattr(column, "to_pylist") else column)]


def _parsed(texts, name, na):
    """Numbers that stand beside texts that mean a missing cell, and so are texts themselves."""
    missing = {"", *na, *(text.removeprefix(f"{name}=") for text in na)}
    return np.array([np.nan if text in missing else float(text) for text in texts], dtype=np.float64)


def _days(dates):
    """Dates as the days since 1970-01-01, with the time of the day as a fraction; NaN where missing."""
    days = (dates - np.datetime64("1970-01-01")) / np.timedelta64(1, "D")
    return np.ascontiguousarray(days, dtype=np.float64)


def _spelled(cells, levels):
    """Cells of which the booleans are texts, spelled as in these levels: tables know no booleans."""
    if not isinstance(cells, list):
        return cells
    spellings = (str.lower, str, str.upper)
    known = (s for s in spellings if s("True") in levels or s("False") in levels)
    spell = next(known, str.lower)
    return [spell(str(cell)) if isinstance(cell, (bool, np.bool_)) else cell for cell in cells]


def _text(value):
    """A cell as the text that the program reads; empty where it is missing. Booleans are left."""
    if isinstance(value, (bool, np.bool_)):
        return value
    if value is None or type(value).__name__ in ("NAType", "NaTType") or value != value:
        return ""
    if isinstance(value, (float, np.floating)) and value == int(value):
        return str(int(value))
    return str(value).strip()


def load(path: str | os.PathLike[str]) -> Pipeline | GroupDROClassifier | GroupDRORegressor:
    """A model that the program ``gdro`` or :func:`save` wrote, ready to predict.

    Parameters
    ----------
    path : path
        A ``model.json``, or the folder it is in.

    Returns
    -------
    Pipeline or estimator
        For a model of the program a pipeline of a :class:`TableEncoder` and an estimator, which
        takes tables as they are; its classes are texts, and what judges it takes the whole numbers
        whose texts they are as well. What Python saved is loaded as the
        estimator that it was. A model of a LIBSVM file is an estimator whose columns are the
        indices from 1 (from 0 if the file had it) on, as ``sklearn.datasets.load_svmlight_file``
        reads them with ``n_features=model.n_features_in_``.

    Raises
    ------
    FileNotFoundError
        Where there is no such file.
    ValueError
        For a file that is no model, and a model of LIBSVM features beside columns.

    Examples
    --------
    >>> import tempfile
    >>> import gdro
    >>> model = gdro.GroupDROClassifier().fit([[0.0], [1.0], [2.0]], ["no", "yes", "yes"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     gdro.save(model, folder)
    ...     again = gdro.load(folder)
    >>> again.predict([[3.0]]).tolist()
    ['yes']
    """
    path = Path(path)
    path.stat()  # FileNotFoundError, as of any file
    if path.is_dir():
        (path / "model.json").stat()
    return _from_json(json.loads(_gdro.read_model(str(path))))


def _from_json(model):
    encoding, target, training = model["encoding"], model["target"], model["job"]["training"]
    own = model.get("python")
    indices = encoding.get("sparse")
    if indices is not None and (encoding["columns"] or indices["columns"]):
        raise ValueError(
            "the model takes features by index (LIBSVM) beside columns by name, which neither a "
            "matrix nor a table has: predict with the program"
        )
    c, features = model["outputs"], model["features"]
    encoder = TableEncoder(json.dumps(encoding), tuple(model["job"]["data"].get("na", ())))
    constant = bool(encoding["constant"])
    is_number = target["task"] == "regression"
    shape = (len(features), c)
    coefficients = _coefficients(model, shape, constant, is_number)
    arguments = {
        "objective": training["objective"],
        "loss": model["loss"],
        "l2": training["l2"],
        "ball": training["ball"],
        "domain": training.get("domain"),
        "fit_intercept": not training.get("no-intercept", False),
        "penalize_intercept": training["penalize-intercept"],
        "weight_kind": model["job"]["data"].get("weight-kind", "importance"),
    }
    if is_number:
        estimator = GroupDRORegressor(**arguments)
    else:
        estimator = GroupDROClassifier(**arguments)
        if target["task"] == "binary":
            classes = [target["negative"], target["positive"]]
        else:
            classes = target["classes"]
        if own is not None:
            classes = own["classes"]
        estimator.classes_ = np.array(classes)
    estimator.coef_, estimator.intercept_ = coefficients
    estimator.n_features_in_ = estimator.coef_.shape[-1]
    estimator.loss_ = model["loss"]
    estimator.solver_ = training["solver"]
    estimator.loss_cap_ = model["cap"]
    estimator.weight_cap_ = model.get("weight-cap")
    estimator.cluster_cap_ = model.get("cluster-cap")
    data = model["job"]["data"]
    estimator.group_names_ = np.array(model["grouping"]["names"], dtype=object)
    estimator.group_weights_ = np.array(model["group-weights"])
    certificate = model["certificate"]
    estimator.certificate_ = None if certificate is None else Certificate(**certificate)
    baseline = model.get("baseline")
    if baseline is not None:
        erm = copy(estimator)
        if training["objective"] != "average":  # that is ordinary training, which it is compared with
            erm.coef_, erm.intercept_ = _coefficients(baseline, shape, constant, is_number)
        training = dict(zip(model["grouping"]["names"], zip(baseline["rows"], baseline["risks"])))
        estimator._baseline = (erm, training)
    # To save it again.
    estimator._record = {
        "job": json.dumps(model["job"]),
        "groups": model["grouping"],
        "is_weighted": data["weight"] is not None,
        "weight_kind": data.get("weight-kind", "importance"),
        "one_cluster": None if data.get("cluster") is None else model.get("one-cluster", []),
        "target": target,
        "baseline": baseline,
    }
    if indices is not None:
        estimator._encoding = encoding
        return estimator
    if own is not None and own["features"] != "encoded":
        if own["features"] == "named":
            estimator.feature_names_in_ = np.array(
                features[:-1] if constant else features, dtype=object
            )
        return estimator
    return Pipeline([("table", encoder), ("model", estimator)])


def _coefficients(part, shape, constant, is_number):
    """What estimators call coefficients and intercepts, of a model or its baseline in a file."""
    weights, intercepts = np.array(part["weights"]).reshape(shape), np.array(part["intercepts"])
    if constant:
        weights, intercepts = weights[:-1], weights[-1]
    elif len(intercepts) == 0:
        intercepts = np.zeros(shape[1])
    if is_number:
        return np.ascontiguousarray(weights[:, 0]), float(intercepts[0])
    return np.ascontiguousarray(weights.T), np.array(intercepts)


def save(
    model: Pipeline | GroupDROClassifier | GroupDRORegressor,
    path: str | os.PathLike[str],
    *,
    target: str | None = None,
    weight: str | None = None,
    cluster: str | None = None,
) -> None:
    """Writes a model as the ``model.json`` of the program, which can predict and evaluate with it.

    Parameters
    ----------
    model : fitted estimator, or pipeline
        An estimator takes columns of numbers, ``x0``, ``x1``, … where it was fitted without names.
        A pipeline may begin with a ``TableEncoder``, or with any number of ``SimpleImputer`` of
        numbers, scalers (``StandardScaler``, ``MinMaxScaler``, ``MaxAbsScaler``, ``RobustScaler``) and
        ``ColumnTransformer`` of these and of ``OneHotEncoder`` of texts, each of which may be a
        pipeline itself.
    path : path
        The name of the file if it ends with ``.json``, otherwise a folder for ``model.json``.
    target : str, default=None
        Name of the column of the target in tables: ``"y"``, or what a loaded model calls it, unless
        it is given.
    weight : str, default=None
        Name of the column of the weights of the rows, of a model trained with ``sample_weight``:
        ``"sample_weight"``, or what a loaded model calls it, unless it is given.
    cluster : str, default=None
        Name of the column of the clusters of the rows, of a model trained with ``clusters``:
        ``"cluster"``, or what a loaded model calls it, unless it is given.

    Raises
    ------
    NotFittedError
        Before ``fit``.
    ValueError
        For steps that a ``model.json`` cannot hold, with those that it can.
    OSError
        Where the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import gdro
    >>> model = gdro.GroupDRORegressor().fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 4.0])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     gdro.save(model, folder, target="price")
    ...     [file.name for file in Path(folder).iterdir()]
    ['model.json']
    """
    record = _to_json(*_parts(model), target, weight, cluster)
    first = model.steps[0][1] if isinstance(model, Pipeline) else None
    if isinstance(first, TableEncoder):
        record["job"]["data"]["na"] = list(first.na)
    content = json.dumps(record, allow_nan=False)
    path = Path(path)
    if path.suffix != ".json":
        path = path / "model.json"
    _gdro.write_model(str(path), content)


#: What can be saved before an estimator.
_SAVED = (
    "SimpleImputer of numbers, StandardScaler, MinMaxScaler, MaxAbsScaler, RobustScaler, OneHotEncoder of "
    "texts, ColumnTransformer, passthrough or a pipeline of these"
)


def _parts(model):
    """The encoding before an estimator, or ``None``; the estimator; and what is added to the features
    of the encoding to get those of the estimator, or ``None``.
    """
    steps = [step for _, step in model.steps] if isinstance(model, Pipeline) else [model]
    steps = [s for s in steps if s is not None and s != "passthrough"]
    estimator = steps[-1]
    if not isinstance(estimator, _GroupDRO):
        kind = type(estimator).__name__
        raise ValueError(f"expected an estimator of gdro, or a pipeline that ends with one: {kind}")
    check_is_fitted(estimator)
    before = steps[:-1]
    if not before:
        return None, estimator, None
    if len(before) == 1 and isinstance(before[0], TableEncoder):
        return json.loads(before[0].encoding), estimator, None
    columns = [{"name": name} for name in _inputs(before[0])]
    for step in before:
        columns = _through(step, columns, type(step).__name__)
    shifts, encoded = [], []
    for column in columns:
        if column.get("kind") == "text":
            encoded.append(column)
            shifts += [0.0] * len(column["levels"])
            continue
        mean, deviation = column.get("mean", 0.0), column.get("deviation", 1.0)
        fill = column.get("fill")
        number_of = _number(column["name"], mean if fill is None else fill, deviation)
        encoded.append(number_of if fill is None else number_of | {"missing": "zero"})
        shifts.append(0.0 if fill is None else (fill - mean) / deviation)
    shift = np.array(shifts)
    if not shift.any():
        shift = None
    elif estimator.penalize_intercept or not estimator.fit_intercept:
        raise ValueError(
            "SimpleImputer fills in other numbers than the means, which an intercept that is free alone "
            "can make up for: expected fit_intercept=True and penalize_intercept=False, or strategy='mean'"
        )
    return {"columns": encoded, "constant": False}, estimator, shift


def _inputs(step):
    """The names of the columns that a step takes."""
    first = step.steps[0][1] if isinstance(step, Pipeline) else step
    names = getattr(first, "feature_names_in_", None)
    if names is None:
        check_is_fitted(first)
        names = [f"x{j}" for j in range(first.n_features_in_)]
    return [str(name) for name in names]


def _through(part, columns, where):
    """The columns as a step leaves them."""
    if isinstance(part, Pipeline):
        for _, step in part.steps:
            columns = _through(step, columns, where)
        return columns
    kind = part if isinstance(part, str) else type(part).__name__
    if kind in ("passthrough", "NoneType"):
        return columns
    if kind == "FunctionTransformer" and part.func is None:
        return columns
    if kind == "ColumnTransformer":
        check_is_fitted(part)
        found = []
        for name, inner, chosen in part.transformers_:
            if not isinstance(inner, str) or inner != "drop":
                own = [columns[j] for j in _places(part, chosen)]
                found += _through(inner, own, f"transformer {name!r}")
        return found
    if kind in _AFFINE:
        return _scaled(part, columns, where)
    if kind == "SimpleImputer":
        return _filled(part, columns, where)
    if kind == "OneHotEncoder":
        return _indicators(part, columns, where)
    inside = "" if where == kind else f"{where}: "
    raise ValueError(f"{inside}{kind} cannot be saved: expected {_SAVED}")


def _places(transformer, chosen):
    """The numbers of the columns that a part of a ColumnTransformer takes."""
    every = np.arange(transformer.n_features_in_)
    if isinstance(chosen, str):
        chosen = [chosen]
    if isinstance(chosen, slice) or (len(chosen) and not isinstance(chosen[0], str)):
        return every[chosen].tolist()
    names = [str(name) for name in transformer.feature_names_in_]
    return [names.index(str(name)) for name in chosen]


#: m and s of what scalers make of x, (x - m)/s.
_AFFINE = {
    "StandardScaler": lambda p: (
        p.mean_ if p.with_mean else None,
        p.scale_ if p.with_std else None,
    ),
    "MinMaxScaler": lambda p: (-p.min_ / p.scale_, 1 / p.scale_),
    "MaxAbsScaler": lambda p: (None, p.scale_),
    "RobustScaler": lambda p: (
        p.center_ if p.with_centering else None,
        p.scale_ if p.with_scaling else None,
    ),
}


def _numbers(columns, where, kind):
    """Refuses columns that are indicators of texts."""
    for column in columns:
        if column.get("kind") == "text":
            raise ValueError(f"{where}: {kind} after OneHotEncoder cannot be saved: put it before")


def _scaled(part, columns, where):
    kind = type(part).__name__
    check_is_fitted(part)
    if getattr(part, "clip", False):
        raise ValueError(f"{where}: {kind}(clip=True) cannot be saved: expected clip=False")
    _numbers(columns, where, kind)
    means, deviations = _AFFINE[kind](part)
    means = np.zeros(len(columns)) if means is None else means
    deviations = np.ones(len(columns)) if deviations is None else deviations
    found = []
    for column, mean, deviation in zip(columns, means.tolist(), deviations.tolist()):
        before, scale = column.get("mean", 0.0), column.get("deviation", 1.0)
        found.append(column | {"mean": before + scale * mean, "deviation": scale * deviation})
    return found


def _filled(part, columns, where):
    check_is_fitted(part)
    _numbers(columns, where, "SimpleImputer")
    if part.add_indicator:
        raise ValueError(f"{where}: SimpleImputer(add_indicator=True) cannot be saved")
    if not is_missing(part.missing_values):
        raise ValueError(f"{where}: SimpleImputer fills in {part.missing_values!r}: expected NaN")
    found = []
    for column, value in zip(columns, part.statistics_.tolist()):
        if not isinstance(value, (int, float)):
            raise ValueError(
                f"{where}: SimpleImputer of texts, such as column {column['name']!r}, cannot be saved"
            )
        if value != value:
            raise ValueError(f"{where}: column {column['name']!r} had no number: leave it out")
        value = column.get("mean", 0.0) + column.get("deviation", 1.0) * value
        found.append(column if "fill" in column else column | {"fill": value})
    return found


def _indicators(part, columns, where):
    check_is_fitted(part)
    if part.drop is not None or getattr(part, "infrequent_categories_", None) not in (None, []):
        raise ValueError(f"{where}: drop and infrequent categories cannot be saved")
    found = []
    for column, categories in zip(columns, part.categories_):
        name, levels = column["name"], [str(c) for c in categories]
        if not all(isinstance(c, str) for c in categories.tolist()) or levels != sorted(levels):
            raise ValueError(f"{where}: column {name!r}: expected texts as categories")
        if len(levels) < 2:
            raise ValueError(f"{where}: column {name!r} has one category: leave it out")
        found.append({"kind": "text", "name": name, "levels": levels, "missing": "zero"})
    return found


def _number(name, mean, deviation):
    return {"kind": "number", "name": name, "mean": float(mean), "deviation": float(deviation)}


def _identity(estimator):
    if hasattr(estimator, "_encoding"):
        return estimator._encoding
    names = getattr(estimator, "feature_names_in_", None)
    if names is None:
        names = [f"x{j}" for j in range(estimator.n_features_in_)]
    return {"columns": [_number(str(n), 0.0, 1.0) for n in names], "constant": False}


def _weights(estimator, shift):
    """Weights feature by feature, and intercepts, of features without their ``shift``."""
    coef = np.atleast_2d(estimator.coef_)
    intercepts = np.atleast_1d(np.asarray(estimator.intercept_, dtype=np.float64))
    return coef.T.ravel(), intercepts if shift is None else intercepts + coef @ shift


def _labels(estimator):
    return [str(c) for c in estimator.classes_.tolist()]


def _kind(estimator):
    if isinstance(estimator, GroupDRORegressor):
        return "regression"
    return "binary" if len(estimator.classes_) == 2 else "multiclass"


def _loss(estimator):
    # Of two classes softmax has been brought to one score.
    two = _kind(estimator) == "binary" and estimator.loss_ == "softmax"
    return "logistic" if two else estimator.loss_


def _to_json(encoding, estimator, shift, target, weight, cluster):
    """The parts that only Python knows; the rest of the file follows from them."""
    kind = _kind(estimator)
    features = "encoded" if encoding is not None else "plain"
    if encoding is None:
        features = "named" if hasattr(estimator, "feature_names_in_") else "plain"
        encoding = _identity(estimator)
    weights, intercepts = _weights(estimator, shift)
    if estimator.penalize_intercept:  # the weight of a feature that is 1
        encoding = encoding | {"constant": True}
        weights, intercepts = np.concatenate([weights, intercepts]), np.zeros(0)
    elif not estimator.fit_intercept:
        intercepts = np.zeros(0)
    record = estimator._record
    job = json.loads(record["job"])
    loaded = record.get("target", {"column": "y"})
    target_of = loaded | {"task": kind, "column": target or loaded["column"]}
    if kind == "binary":
        target_of["negative"], target_of["positive"] = _labels(estimator)
    elif kind == "multiclass":
        target_of["classes"] = _labels(estimator)
    if not record["is_weighted"]:
        if weight is not None:
            raise ValueError(f"weight={weight!r}: the model was trained without sample_weight")
    elif weight is None:
        weight = job["data"]["weight"] or "sample_weight"
    one_cluster = record.get("one_cluster")
    if one_cluster is None:
        if cluster is not None:
            raise ValueError(f"cluster={cluster!r}: the model was trained without clusters")
    elif cluster is None:
        cluster = job["data"].get("cluster") or "cluster"
    certificate = estimator.certificate_
    return {
        "job": job,
        "encoding": encoding,
        "target": target_of,
        "groups": record["groups"],
        "weight": weight,
        "weight-kind": record.get("weight_kind", "importance"),
        "cluster": cluster,
        "cluster-cap": estimator.cluster_cap_,
        "one-cluster": one_cluster or [],
        "baseline": record.get("baseline"),
        "weights": weights.tolist(),
        "intercepts": intercepts.tolist(),
        "group-weights": np.asarray(estimator.group_weights_).tolist(),
        "certificate": None if certificate is None else dict(vars(certificate)),
        "cap": float(estimator.loss_cap_),
        "weight-cap": estimator.weight_cap_,
        "python": {
            "features": features,
            "classes": None if kind == "regression" else estimator.classes_.tolist(),
        },
    }


def to_onnx(
    model: Pipeline | GroupDROClassifier | GroupDRORegressor,
    path: str | os.PathLike[str] | None = None,
) -> bytes:
    """The model as ONNX, in double precision: the same predictions in any runtime.

    An estimator has one input ``X`` of shape (rows, features); a pipeline, see :func:`save`, has one
    input of shape (rows, 1) for every column, of numbers (``double``, NaN where missing) or texts
    (``string``, empty where missing). They are as training has them: texts without blanks around them, true
    and false as they are spelled there, days since 1970-01-01 for dates, and what else meant a missing cell
    as one. A missing cell where training had none gives no sensible answer. Outputs are ``label`` and
    ``probabilities`` (``score`` after training with a hinge loss), or ``prediction`` for numbers.

    Parameters
    ----------
    model : fitted estimator, or pipeline
        What :func:`save` takes.
    path : path, default=None
        Where to write it, if anywhere.

    Returns
    -------
    bytes
        The content of the file.

    Raises
    ------
    NotFittedError
        Before ``fit``.
    ValueError
        For steps that cannot be exported, with those that can.
    OSError
        Where the file cannot be written.

    Examples
    --------
    >>> import gdro
    >>> model = gdro.GroupDROClassifier().fit([[0.0], [1.0], [2.0]], ["no", "yes", "yes"])
    >>> len(gdro.to_onnx(model)) > 100
    True
    """
    encoding, estimator, shift = _parts(model)
    weights, intercepts = _weights(estimator, shift)
    kind = _kind(estimator)
    labels, integers = [], False
    if kind != "regression":
        labels, integers = _labels(estimator), estimator.classes_.dtype.kind in "iu"
    if encoding is not None and encoding["constant"]:
        weights, intercepts = np.concatenate([weights, intercepts]), np.zeros(0)
    content = _gdro.to_onnx(
        None if encoding is None else json.dumps(encoding),
        estimator.n_features_in_,
        weights,
        intercepts,
        kind,
        labels,
        _loss(estimator) in ("logistic", "softmax"),
        integers,
    )
    if path is not None:
        Path(path).write_bytes(content)
    return content
