"""Estimates of the base parameters from measured forces, with their covariance, and forecasts of their accuracy.

With the stacked regressor W and forces tau, of which channel d has white noise of variance s_d^2, the estimate of least
variance is ``beta = (W' S^-1 W)^-1 W' S^-1 tau`` and its covariance ``(W' S^-1 W)^-1``, the Cramer-Rao bound.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import InputError
from nonsmooth.identification.base import BaseParameters, Saved, base_parameters, consistent_parameters
from nonsmooth.identification.drive_motion import Fourier
from nonsmooth.identification.measurement import Measurement
from nonsmooth.identification.regressor import Regressor, load_columns
from nonsmooth.settings import is_one, require, shown

Method = Literal["least squares", "weighted", "huber", "total", "consistent"]
METHODS: tuple[Method, ...] = ("least squares", "weighted", "huber", "total", "consistent")
HUBER = 1.345  # of Huber's function, in standard deviations: 95 % efficiency for normal errors
ITERATIONS, SETTLED = 50, 1e-10  # iterations of weights at most, and relative change of estimates at which they end
HOPELESS = 1.0  # standard deviation as a share of the value from which a parameter is not identifiable


@dataclass(frozen=True, eq=False)
class Forecast:
    """Accuracy expected from a motion: the Cramer-Rao bound before any measurement. Printed as a table.

    Parameters
    ----------
    names, units, values : of the base parameters, the values as built
    deviation : least standard deviation of each
    noise : standard deviation of each channel
    """

    names: tuple[str, ...]
    units: tuple[str, ...]
    values: Array
    deviation: Array
    noise: Array

    @property
    def relative(self) -> Array:
        """Deviation as a share of the value; inf where this is zero."""
        infinite = np.full_like(self.deviation, np.inf)
        return np.divide(self.deviation, np.abs(self.values), out=infinite, where=self.values != 0)

    @property
    def hopeless(self) -> tuple[str, ...]:
        """Parameters whose deviation is larger than their value: they cannot be distinguished from zero."""
        return tuple(name for name, share in zip(self.names, self.relative, strict=True) if share > HOPELESS)

    def __str__(self) -> str:
        lines = ["| base parameter | unit | value | deviation | share |", "|---|---|---|---|---|"]
        rows = zip(self.names, self.units, self.values, self.deviation, self.relative, strict=True)
        for name, unit, value, deviation, share in rows:
            words = (f"{share:.1%}" if np.isfinite(share) else "-") + ("" if share <= HOPELESS else " hopeless")
            lines.append(f"| {name} | {unit} | {value:.4g} | {deviation:.2g} | {words} |")
        return "\n".join(lines)


def forecast(
    Y: Regressor, motion: Fourier, *, noise: float, samples: int = 400, base: BaseParameters | None = None
) -> Forecast:
    """The accuracy of the base parameters expected from a motion.

    Parameters
    ----------
    noise : standard deviation of each channel, as a share of its largest force with the parameters as built
    samples : equidistant, over one period
    """
    states = motion.states(motion.times(samples))
    known = base or base_parameters(Y)
    W, force = known.reduced(Y(*states)), Y.force(*states)
    deviation = noise * np.max(np.abs(force), axis=0)
    scaled = (W / deviation[None, :, None]).reshape(-1, known.rank)
    least = np.sqrt(np.diagonal(_inverse_gram(scaled)))
    return Forecast(known.base_names, known.base_units, known.values(Y.values), least, deviation)


@dataclass(frozen=True, eq=False)
class Estimate(Saved):
    """Result of `estimate`; printed, a table.

    Parameters
    ----------
    method
    names, units, values : of the base parameters
    covariance : (rank, rank); of a consistent estimate that of least squares, which its constraints only reduce
    noise : standard deviation of each channel, from the residuals
    residual : measured less estimated forces (n, drives)
    share : share of the sum of squares of the forces that each base parameter explains by itself
    degrees : of freedom of the residuals
    standard : all standard parameters, of a consistent estimate
    seconds : of the solution alone
    """

    method: str
    names: tuple[str, ...]
    units: tuple[str, ...]
    values: Array
    covariance: Array
    noise: Array
    residual: Array
    share: Array
    degrees: int
    base: BaseParameters
    standard: Array | None = None
    seconds: float = 0.0

    @property
    def deviation(self) -> Array:
        """Standard deviation of each value."""
        return np.sqrt(np.diagonal(self.covariance))

    def intervals(self, level: float = 0.95) -> Array:
        """Confidence intervals (rank, 2), of Student's distribution."""
        from scipy.stats import t

        require(0 < level < 1, "level must be between 0 and 1", level)
        width = float(t.ppf(0.5 + level / 2, self.degrees)) * self.deviation
        return np.column_stack([self.values - width, self.values + width])

    @property
    def correlation(self) -> Array:
        """Correlation of the values (rank, rank)."""
        return self.covariance / np.outer(self.deviation, self.deviation)

    @property
    def tests(self) -> dict[str, float]:
        """Durbin and Watson's number of the residuals, 2 for white noise, and the largest in standard deviations."""
        changes = np.sum(np.diff(self.residual, axis=0) ** 2, axis=0) / np.sum(self.residual**2, axis=0)
        largest = float(np.max(np.abs(self.residual) / self.noise))
        return {"Durbin-Watson": float(np.min(changes)), "largest residual": largest}

    def __str__(self) -> str:
        noise = ", ".join(f"{x:.3g}" for x in self.noise)
        tests = ", ".join(f"{name} {value:.3g}" for name, value in self.tests.items())
        lines = [
            f"{self.method}: {len(self.residual)} samples, noise {noise}, {tests}",
            "| base parameter | unit | value | 95 % interval | of the forces |",
            "|---|---|---|---|---|",
        ]
        rows = zip(self.names, self.units, self.values, self.intervals(), self.share, strict=True)
        for name, unit, value, (low, high), share in rows:
            lines.append(f"| {name} | {unit} | {value:.5g} | {low:.4g} to {high:.4g} | {share:.2%} |")
        return "\n".join(lines)

    def as_dictionary(self) -> dict[str, Any]:
        rows = zip(self.names, self.units, self.values, self.deviation, self.intervals(), self.share, strict=True)
        found: dict[str, Any] = {"method": self.method, "noise": self.noise.tolist(), **self.tests}
        found["parameters"] = {
            name: {"value": float(value), "unit": unit, "deviation": float(deviation), "interval": interval.tolist(),
                   "share": float(share)}
            for name, unit, value, deviation, interval, share in rows
        }  # fmt: skip
        if self.standard is not None:
            found["standard"] = dict(zip(self.base.names, self.standard.tolist(), strict=True))
        return found


def estimate(
    Y: Regressor, measured: Measurement, *, method: Method = "weighted", base: BaseParameters | None = None,
    prior: Array | None = None, joints: Mapping[str, str] | None = None, slowest: float = 0.0,
    motion_noise: tuple[float, float, float] | None = None,
) -> Estimate:  # fmt: skip
    """Estimate the base parameters from measured motion and forces.

    InputError if the data do not go with the mechanism, the motion does not determine the parameters, or the method is
    unknown.

    Parameters
    ----------
    Y : `regressor` of the mechanism
    measured : with velocities and accelerations; see `Measurement.filtered`
    method : one of
        "least squares" with equal weights; "weighted" by the noise of each channel, estimated from the residuals;
        "huber", robust against outliers; "total" least squares, if the motion is noisy as well; "consistent", weighted,
        with pseudo-inertias positive semidefinite and friction and loads not negative.
    base : the combinations; by default those of the measured motion
    prior : standard parameters where forces do not determine a consistent estimate; as built by default
    joints : joint -> drive about its axis, optional
        Journals with clearance or dry friction, whose friction ``mu R N`` is estimated as well, as ``"<joint>.mu_R"``
        [m]; their loads N are those of the prior. Not for "total" and "consistent".
    slowest : share of the largest speed of a drive; forces at lower speeds are omitted, since friction reverses and
        sticks there and depends on the motion of the journal in its bearing. For "weighted" and "least squares".
    motion_noise : standard deviation of measured coordinates, velocities and accelerations, for "total"
    """
    require(is_one(method, METHODS), f"method must be one of {', '.join(METHODS)}", method)
    measured.check(Y)
    states = measured.states
    whole = Y(*states)
    known = base or base_parameters(Y)
    W, tau = known.reduced(whole), measured.force - Y.known(*states)
    names, units = known.base_names, known.base_units
    if joints:
        if method in ("total", "consistent"):
            raise InputError(f'Friction of joints is not for method="{method}"; take "weighted" or "huber".')
        W = np.concatenate([W, load_columns(Y, states, joints, prior)], axis=2)
        names, units = names + tuple(f"{joint}.mu_R" for joint in joints), units + ("m",) * len(joints)
    if not 0 <= slowest < 1 or (slowest and method not in ("weighted", "least squares")):
        raise InputError(f'slowest must be from 0 to 1, and 0 with method="{method}", got {shown(slowest)}.')
    fast = np.abs(states[1]) >= slowest * np.max(np.abs(states[1]), axis=0)
    W, tau = W * fast[..., None], tau * fast
    rank = W.shape[2]
    s = np.linalg.svd(W.reshape(-1, rank) / np.linalg.norm(W.reshape(-1, rank), axis=0), compute_uv=False)
    if not s[-1] > 1e-10 * s[0]:
        raise InputError(
            f"The measured motion does not tell the {rank} base parameters apart; excite more, or pass "
            "base=base_parameters(Y, states) for those that it tells."
        )
    slopes = Y.with_derivatives(*states)[1] if method == "total" else None
    begin = time.perf_counter()
    noise, beta, covariance = _weighted(W, tau, iterate=method != "least squares", counts=np.sum(fast, axis=0))
    standard = None
    if method == "huber":
        noise, beta, covariance = _huber(W, tau, beta)
    elif method == "total":
        if motion_noise is None or slopes is None:
            raise InputError("Total least squares needs motion_noise=(of q, of q', of q'').")
        beta = _total(W, tau, known.reduced(slopes), noise, motion_noise)
    elif method == "consistent":
        R = np.linalg.qr((W / noise[None, :, None]).reshape(-1, known.rank))[1]
        standard = consistent_parameters(Y, known, beta, R, Y.values if prior is None else np.asarray(prior))
        beta = known.values(standard)
    residual = tau - W @ beta
    explained = np.sum((W * beta) ** 2, axis=(0, 1)) / np.sum(tau**2)
    return Estimate(
        method, names, units, beta, covariance, noise, residual, explained, int(np.sum(fast)) - rank, known,
        standard, time.perf_counter() - begin,
    )  # fmt: skip


def _inverse_gram(W: Array) -> Array:
    """(W' W)^-1 by the triangular factor of W."""
    scale = np.linalg.norm(W, axis=0)
    inverse = np.linalg.inv(np.linalg.qr(W / scale)[1])
    return (inverse @ inverse.T) / np.outer(scale, scale)


def _weighted(W: Array, tau: Array, *, iterate: bool, counts: Array | int) -> tuple[Array, Array, Array]:
    """Noise of each channel, estimate and covariance, with so many rows of each; not iterated, one noise for all."""
    n, nd, rank = W.shape
    rows, noise, before = np.full(nd, counts), np.ones(nd), np.full(rank, np.inf)
    for _ in range(ITERATIONS if iterate else 1):
        scaled, right = (W / noise[None, :, None]).reshape(-1, rank), (tau / noise).ravel()
        scale = np.linalg.norm(scaled, axis=0)
        Q, R = np.linalg.qr(scaled / scale)
        beta = np.linalg.solve(R, Q.T @ right) / scale
        # of each channel by its share of the degrees of freedom, the trace of its part of the projection
        used = np.sum((Q**2).reshape(n, nd, rank), axis=(0, 2))
        squares = np.sum((tau - W @ beta) ** 2, axis=0)
        if iterate:
            noise = np.sqrt(squares / np.maximum(rows - used, 1.0))
        else:
            noise = np.full(nd, np.sqrt(np.sum(squares) / max(int(np.sum(rows)) - rank, 1)))
        noise = np.maximum(noise, 1e-14 * np.max(np.abs(tau)))
        if np.max(np.abs(beta - before) * scale) <= SETTLED * np.max(np.abs(beta) * scale):
            break
        before = beta
    return noise, beta, _inverse_gram((W / noise[None, :, None]).reshape(-1, rank))


def _huber(W: Array, tau: Array, beta: Array) -> tuple[Array, Array, Array]:
    """Huber's estimate by iterated weights, with the noise of each channel from the median deviation."""
    rank = W.shape[2]
    for _ in range(ITERATIONS):
        residual = tau - W @ beta
        noise = np.maximum(np.median(np.abs(residual), axis=0) / 0.6744897501960817, 1e-14 * np.max(np.abs(tau)))
        weight = np.minimum(1.0, HUBER / np.maximum(np.abs(residual) / noise, 1e-300))
        root = np.sqrt(weight) / noise
        scaled, right = (W * root[..., None]).reshape(-1, rank), (tau * root).ravel()
        scale = np.linalg.norm(scaled, axis=0)
        new = np.linalg.lstsq(scaled / scale, right, rcond=None)[0] / scale
        done = np.max(np.abs(new - beta) * scale) <= 1e-8 * np.max(np.abs(new) * scale)
        beta = new
        if done:
            break
    # Huber's asymptotic covariance: mean of psi^2 over the square of the mean of psi'
    residual = (tau - W @ beta) / noise
    psi, inside = np.clip(residual, -HUBER, HUBER), np.abs(residual) < HUBER
    factor = np.mean(psi**2) * residual.size / (residual.size - rank) / np.mean(inside) ** 2
    return noise, beta, factor * _inverse_gram((W / noise[None, :, None]).reshape(-1, rank))


def _total(W: Array, tau: Array, slopes: Array, noise: Array, motion_noise: tuple[float, float, float]) -> Array:
    """Total least squares, errors of columns as noise of the motion makes them; columns without errors come first."""
    n, nd, rank = W.shape
    spread = np.repeat(np.asarray(motion_noise, dtype=float), nd)
    errors = np.sqrt(np.einsum("nkdp,k->dp", slopes**2, spread**2) / n)  # (nd, rank) of each channel
    level = np.sqrt(np.mean((errors / noise[:, None]) ** 2, axis=0))
    order = np.concatenate([np.flatnonzero(level == 0), np.flatnonzero(level > 0)])
    exact = int(np.sum(level == 0))
    scale = np.where(level > 0, level, 1.0)[order]
    A = (W / noise[None, :, None]).reshape(-1, rank)[:, order] / scale
    R = np.linalg.qr(np.column_stack([A, (tau / noise).ravel()]))[1]
    inner = np.linalg.svd(R[exact:, exact:])[2][-1]
    if abs(inner[-1]) < 1e-12:
        raise InputError("Total least squares has no solution for these data; use weighted least squares.")
    y = np.zeros(rank)
    y[exact:] = -inner[:-1] / inner[-1]
    if exact:
        y[:exact] = np.linalg.solve(R[:exact, :exact], R[:exact, -1] - R[:exact, exact:-1] @ y[exact:])
    beta = np.empty(rank)
    beta[order] = y / scale
    return beta
