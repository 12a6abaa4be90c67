"""The equations of each scheme once more, from the docstrings of their classes, as residuals of recorded steps.

Nothing is solved here and nothing of the schemes is imported: each row of a `Trajectory` and the row before it are put
into the equations, with M, h, W and g of the system. What is not recorded, as impulses of joints, is what fits best in
the sense of least squares; what does not fit is the residual. Residuals are shares of the terms that cancel in them.
"""

from __future__ import annotations

from itertools import product
from typing import Any, NamedTuple

import numpy as np
from scipy.integrate import solve_ivp

from nonsmooth import (
    EventDriven,
    GaussMPCC,
    GaussQP,
    GeneralizedAlpha,
    Landing,
    MoreauJean,
    PrescribedMotion,
    PrescribedPose,
)
from nonsmooth.model.contacts import Contact

#: a gap of at most this share of the clearance counts as closed, as the rules in the manifest of a run state
CLOSED = 1e-8
#: terms count at least as this share of the whole motion; round-off of coordinates as so many units in the last place
FLOOR, UNITS = 1e-3, 32
#: share of the whole motion above which an impulse is not round-off
FOUND = 1e-9


class Point(NamedTuple):
    """Gaps, joints and their directions at one configuration."""

    gap: Any
    W_N: Any
    W_T: Any
    g: Any
    W_g: Any
    g_t: Any


class Reference:
    """A run and its mechanism, and the residuals of its rows.

    Parameters
    ----------
    run : Trajectory
    system : System, that it is a run of
    stepper, control : settings that it was run with
    """

    def __init__(self, run: Any, system: Any, stepper: Any, control: Any) -> None:
        self.run, self.system, self.stepper, self.control = run, system, stepper, control
        self.p, self.f, self.d = system.parameter_values, system.numeric, system.dimension - 1
        self.M = self.f.M(system.start.q, self.p)[0]
        self.weight = np.sqrt(np.diag(self.M))
        self.e, self.mu, self.e_T, self.size = self.f.contact_law(self.p)
        elements = [one for one in system.elements if isinstance(one, Contact) for _ in one.gap_labels]
        laws = [one.contact for one in elements]
        self.threshold = np.array([getattr(law, "threshold", 0.0) for law in laws])
        self.newton = all(getattr(law, "impact", "newton") == "newton" for law in laws)
        self.incremental = any(getattr(law, "impact", "newton") in ("routh", "stronge") for law in laws)
        if isinstance(stepper, MoreauJean) and not self.newton:  # its steps are plastic, see `plastic`
            self.e, self.e_T = np.zeros_like(self.e), np.zeros_like(self.e_T)
        self.noise = np.spacing(max(1.0, float(np.max(np.abs(run.q.array))))) * UNITS
        self.worst: dict[str, Any] = {}
        self.k = 0

    def at(self, t: float, q: Any) -> Point:
        f, p = self.f, self.p
        none = np.zeros((self.system.nv, 0))
        contacts = (f.g_N(q, p)[0], f.W_N(q, p)[0], f.W_T(q, p)[0]) if self.system.nc else (np.zeros(0), none, none)
        joints = (f.g(t, q, p)[0], f.W_g(t, q, p)[0], f.g_t(t, q, p)[0]) if self.system.ng else (none[0], none, none[0])
        return Point(*contacts, *joints)

    def h(self, t: float, q: Any, v: Any) -> Any:
        return self.f.h(t, q, v, self.p)[0]

    def moved(self, q: Any, v: Any, dt: float) -> Any:
        return self.f.advance(q, v, dt)[0]

    def velocity(self, q: Any, end: Any, dt: float) -> Any:
        """u with which q is moved to `end` in dt."""
        u = np.zeros(self.system.nv)
        for _ in range(30):  # in the plane one correction; quaternions contract by the squared angle of a step
            u = u + np.linalg.lstsq(self.f.B(end)[0], (end - self.moved(q, u, dt)) / dt, rcond=None)[0]
        self.note("position", np.max(np.abs(end - self.moved(q, u, dt))) / (1.0 + np.max(np.abs(end))))
        return u

    # ---- residuals

    def note(self, name: str, value: Any) -> None:
        """Keep the largest value of each kind in each row."""
        rows = self.worst.setdefault(name, np.zeros(len(self.run.t)))
        rows[self.k] = max(rows[self.k], float(np.max(value, initial=0.0)))

    def balance(self, name: str, change: Any, known: Any, unknown: Any = (), noise: float = 0.0) -> list[Any]:
        """M change = sum of known impulses + unknown directions times what fits best; returns the latter."""
        terms = sum((abs(one) for one in known), abs(self.M) @ abs(change))
        terms = terms + FLOOR * self.motion * self.weight + 1e-300
        left = self.M @ change - sum(known, np.zeros(self.system.nv))
        A = np.column_stack([np.zeros((self.system.nv, 0)), *unknown])
        length = np.linalg.norm(A / terms[:, None], axis=0)
        length[length == 0.0] = 1.0
        x = np.linalg.lstsq(A / length / terms[:, None], left / terms, rcond=1e-13)[0] / length
        error = abs(left - A @ x) - self.M.diagonal() * noise
        self.note(name, error / (terms + abs(A) @ abs(x)))
        return np.split(x, np.cumsum([one.shape[1] for one in unknown])[:-1])

    def mobility(self, W: Any) -> Any:
        """Diagonal of W' M^-1 W, of a direction without one that of the heaviest body."""
        return np.maximum(np.sum(W * np.linalg.solve(self.M, W), axis=0), 1.0 / np.max(self.M.diagonal()))

    def rates(self, name: str, W: Any, v: Any, wanted: Any, noise: float = 0.0) -> None:
        """W' v = wanted."""
        terms = abs(W).T @ abs(v) + abs(wanted) + FLOOR * np.sqrt(self.mobility(W)) * self.motion + 1e-300
        error = W.T @ v - wanted
        if self.system.redundant:  # rows that contradict each other: what no velocity satisfies is left aside
            error = W.T @ np.linalg.lstsq(W.T, error, rcond=1e-7)[0]
        self.note(name, (abs(error) - noise) / terms)

    def reactions(self, dt: float, noise: float, *parts: Any) -> None:
        """Recorded forces of joints, and those of impacts, against the impulses of all parts of a step."""
        if not self.system.ng or self.system.redundant:  # equivalent ones could stand there
            return
        recorded = dt * self.run.reaction.array[self.k] + self.run.reaction_impact.array[self.k]
        found = [self.f.reaction(t, q, self.p, P)[0] for t, q, P in parts]
        terms = np.max([np.max(abs(one)) for one in (*found, recorded)]) + FLOOR * self.motion * np.max(self.weight)
        error = np.max(abs(recorded - sum(found))) - len(parts) * noise * np.max(self.M.diagonal())
        self.note("reactions", error / (terms + 1e-300))

    def modes(self, on: Any, P_N: Any, P_T: Any, frictionless_open: bool = False) -> None:
        """Recorded modes: 0 open, 1 closed without friction or load, 2 inside the cone, 3 on its edge."""
        reach, length, found = self.mu * P_N, np.linalg.norm(P_T, axis=1), self.run.mode.array[self.k]
        slips = np.where(length < (1.0 - 1e-6) * reach, 2, 3)
        wrong = found != np.where(on, np.where(reach > 0.0, slips, 1), 0)
        self.note("modes", wrong & (on | ~(found == 1)) if frictionless_open else wrong)

    def struck(self) -> Any:
        """Contacts of which an impulse of this row is that of an impact, and not of a force over the step."""
        dt = self.run.t[self.k] - self.run.t[self.k - 1] if self.k else 0.0
        P_N = self.run.P_N.array[self.k]
        return np.array(self.run.gap.names)[P_N - dt * self.run.lam_N.array[self.k] > 1e-9 * P_N]

    def strikes(self, on: Any, minus: Any, P_N: Any) -> None:
        """Contacts that close, approaching, and are pressed have an impact, whose impulse is theirs in the step."""
        names = np.array(self.run.gap.names)[on & (minus < -1e-6 * abs(self.run.v.array).max())]
        self.note("struck", not np.all(np.isin(names, self.struck())))

    def rubs(self, P_T: Any, slip: Any) -> None:
        """The column of the work of friction, in a step without impact."""
        loss = -np.sum(P_T * slip)
        table = self.run.energy.array[:, list(self.run.energy.names).index("loss_friction")]
        terms = np.sum(abs(P_T * slip)) + abs(table[self.k]) + FLOOR * self.motion**2 + 1e-300
        self.note("friction work", abs(table[self.k] - table[self.k - 1] - loss) / terms)

    def closes(self, at: Point) -> None:
        """Joints on position level."""
        self.note("joints", abs(at.g) / (1.0 + np.max(abs(self.run.q.array))))

    def pairs(self, P_T: Any) -> Any:
        return np.reshape(P_T, (self.system.nc, self.d))

    def coulomb(self, on: Any, W: Any, slip: Any, terms: Any, P_N: Any, P_T: Any) -> None:
        """P_T is the nearest point of the disc mu P_N to P_T - slip."""
        w = W[:, None]
        pull = w * P_T - slip
        reach, length = self.mu * W * P_N, np.linalg.norm(pull, axis=1)
        on_disc = pull * np.minimum(1.0, reach / np.maximum(length, 1e-300))[:, None]
        self.note("friction", (np.max(abs(w * P_T - on_disc), axis=1, initial=0.0) / terms)[on])

    def impact_law(self, on: Any, W: Point, start: Point, v: Any, before: Any, P_N: Any, P_T: Any, minus: Any) -> None:
        """Signorini's condition in velocities with restitution, and Coulomb's law, as natural maps.

        Rates before are along the directions `start`, normal ones are `minus`.
        """
        w = self.mobility(W.W_N)
        shift = np.where(-minus > self.threshold, self.e * np.minimum(minus, 0.0), 0.0)
        plus = W.W_N.T @ v + shift
        terms = abs(W.W_N).T @ abs(v) + abs(shift) + w * abs(P_N) + FLOOR * np.sqrt(w) * self.motion + 1e-300
        self.note("contacts", (abs(np.minimum(plus, w * P_N)) / terms)[on])
        slip = self.pairs(W.W_T.T @ v) + np.where(minus < 0.0, self.e_T, 0.0)[:, None] * self.pairs(
            start.W_T.T @ before
        )
        terms = terms + np.max(abs(self.pairs(abs(W.W_T).T @ abs(v))), axis=1, initial=0.0)
        self.coulomb(on, w, slip, terms, P_N, P_T)
        if isinstance(self.stepper, MoreauJean | GeneralizedAlpha) and (self.newton or not len(self.struck())):
            self.modes(on, P_N, P_T)
        self.note("open", (w * (abs(P_N) + np.sum(abs(P_T), axis=1)) / terms)[~on])

    def residuals(self) -> dict[str, Any]:
        """The largest residual of each kind in each row."""
        run, step = self.run, self.step_of()
        kinetic = 0.5 * np.einsum("ni,ij,nj->n", run.v.array, self.M, run.v.array)
        self.worst["kinetic"] = abs(run.energy["kinetic"] - kinetic) / (kinetic + 1e-300)
        if not any(isinstance(one, PrescribedMotion | PrescribedPose) for one in self.system.elements):
            before = run.left.v.array
            lost = np.cumsum(0.5 * np.einsum("ni,ij,nj->n", before, self.M, before) - kinetic)
            summed = np.cumsum(kinetic) + np.max(kinetic) + 1e-300  # each term has its round-off
            self.worst["lost in impacts"] = abs(run.energy["loss_impacts"] - lost) / summed
            self.worst["work of no driver"] = abs(run.energy["work_drivers"]) / summed
        for self.k in range(1, len(run.t)):
            dt, k = run.t[self.k] - run.t[self.k - 1], self.k
            q, v, end, after, left = (
                run.q.array[k - 1],
                run.v.array[k - 1],
                run.q.array[k],
                run.v.array[k],
                run.left.v.array[k],
            )
            P_N, P_T = run.P_N.array[k], self.pairs(run.P_T.array[k])
            kick = dt * np.linalg.solve(self.M, self.h(run.t[k], end, after))
            self.motion = sum(np.linalg.norm(self.weight * x) for x in (v, after, kick))
            step(dt, run.t[k - 1], q, v, end, after, left, P_N, P_T)
        return self.worst

    # ---- schemes: t, q, v at the start of the step, end, after at its end, left before the impact there

    def step_of(self) -> Any:
        """The equations of the step of this stepper."""
        if isinstance(self.stepper, MoreauJean):
            middle = self.stepper.joints == "midpoint" and self.system.ng > 0
            self.s = self.bend = None
            return self.moreau_jean_midpoint if middle else self.moreau_jean
        if isinstance(self.stepper, GaussQP | GaussMPCC):
            return self.landing if isinstance(self.control, Landing) else self.implicit_euler
        if isinstance(self.stepper, GeneralizedAlpha):
            return self.generalized_alpha
        return self.event_driven if isinstance(self.stepper, EventDriven) else self.compliant

    def plastic(self, t, end, after, left, P_N, P_T):
        """Velocity and impulses of a step without the impact at its end, which laws other than Newton's have there; and
        the impulses of joints in that impact, none without one. Impulses of the step are None where those of the impact
        are not unique, since only their sums are recorded.

        What the law makes of an impact is left open: it is along closed contacts, presses, and is in the cone.
        """
        if self.newton or np.all(after == left):
            return after, P_N, P_T, ()
        last, i = self.at(t, end), np.flatnonzero(np.isin(self.run.gap.names, self.struck()))
        W = last.W_N[:, i], last.W_T[:, self.tangents(i)], last.W_g
        N, T, joints = self.balance("impact", after - left, (), W)
        # along its impulse an impact changes no velocity of joints, whatever it was
        self.rates("joint rates", last.W_g, after, last.W_g.T @ left if self.incremental else -last.g_t)
        if np.linalg.matrix_rank(np.column_stack(W)) < sum(one.shape[1] for one in W):
            return left, None, None, ()
        T = T.reshape(i.size, self.d)
        w = self.mobility(last.W_N[:, i])
        terms = w * abs(N) + FLOOR * np.sqrt(w) * self.motion + 1e-300
        self.note("contacts", w * np.maximum(-N, 0.0) / terms)
        self.note("friction", w * np.maximum(np.linalg.norm(T, axis=1) - self.mu[i] * N, 0.0) / terms)
        P_N, P_T = P_N.copy(), P_T.copy()
        P_N[i] -= N
        P_T[i] -= T
        return left, P_N, P_T, ((t, end, joints),)

    def moreau_jean(self, dt, t, q, v, end, after, left, P_N, P_T):
        after, P_N, P_T, impact = self.plastic(t + dt, end, after, left, P_N, P_T)
        if P_N is None:
            return
        theta, point = self.stepper.theta, self.moved(q, v, 0.5 * dt)
        start, mid, last = self.at(t, q), self.at(t + 0.5 * dt, point), self.at(t + dt, end)
        on, noise = mid.gap <= CLOSED * self.size, self.noise / dt
        u = self.velocity(q, end, dt) if self.system.ng else (1.0 - theta) * v + theta * after
        if self.stepper.projection == "combined":
            u = self.unprojected(dt, t, q, v, end, after, mid, last, P_N, P_T)
            last = self.at(t + dt, self.moved(q, u, dt))
        elif not self.system.ng:
            self.note("position", abs(end - self.moved(q, u, dt)) / (1.0 + np.max(abs(end))))
        h = self.h(t + theta * dt, self.moved(q, u, theta * dt), u)
        before = mid.W_N.T @ v
        if self.stepper.moment_arms == "balanced":
            mid = self.balanced(mid, (1.0 - theta) * dt * u - 0.5 * dt * v)
        P = mid.W_N @ P_N + mid.W_T @ P_T.ravel()
        a = self.balance("motion", u - v, (theta * dt * h, theta * P), (start.W_g,), noise if self.system.ng else 0.0)
        b = self.balance("motion", after - u, ((1 - theta) * dt * h, (1 - theta) * P), (last.W_g,), noise)
        moved = end if self.stepper.projection is None else self.moved(q, u, dt)
        self.reactions(dt, noise, (t, q, a[0]), (t + dt, moved, b[0]), *impact)
        self.closes(last)
        self.rates("joint rates", last.W_g, after, -last.g_t)
        self.contacts_of_moreau(on, mid, last.W_g, v, after, left, P_N, P_T, before)

    def contacts_of_moreau(self, on, mid, W_g, v, after, left, P_N, P_T, minus):
        """The impact law, and the impulses between the left limit of the velocity and the right one."""
        self.impact_law(on, mid, mid, after, v, P_N, P_T, minus)
        struck = np.isin(self.run.gap.names, self.struck())
        if not self.newton:
            return
        self.strikes(on & (self.run.P_N.array[self.k - 1] == 0.0) & (P_N > 0.0), minus, P_N)
        if np.any(P_N) and not struck.any():
            self.rubs(P_T, 0.5 * self.pairs(mid.W_T.T @ (v + after)))
        jump = mid.W_N @ (struck * P_N) + mid.W_T @ (struck[:, None] * P_T).ravel()
        dt, theta = self.run.t[self.k] - self.run.t[self.k - 1], self.stepper.theta
        K, D = self.f.linear_forces(self.p)  # implicit, in impulses as in forces
        self.balance(
            "impact", after - left, (jump - (theta * dt * D + (theta * dt) ** 2 * K) * (after - left),), (W_g,)
        )
        self.rates("joint rates", W_g, left, W_g.T @ after)

    def unprojected(self, dt, t, q, v, end, after, mid, last, P_N, P_T):
        """u before the projection, from joints that are closed there; the projection moves by W times impulses.

        The least change is that of a sequence of linearised gaps: its directions are those before and after it.
        """
        theta, closed, start = self.stepper.theta, last.gap <= CLOSED * self.size, self.at(t, q)
        self.closes(last)
        self.note("gaps", np.maximum(-last.gap - self.noise, 0.0) / self.size if self.system.nc else 0.0)
        moved = self.velocity(q, end, dt)
        u, (K, D) = moved if self.system.ng else (1.0 - theta) * v + theta * after, self.f.linear_forces(self.p)
        soft = np.diag(theta * dt * D + (theta * dt) ** 2 * K)
        W = np.linalg.solve(self.M + soft, start.W_g)
        for _ in range(12 if self.system.ng and np.any(closed) else 0):  # forces depend on u
            h, W_P = self.h(t + theta * dt, self.moved(q, u, theta * dt), u), mid
            if self.stepper.moment_arms == "balanced":
                W_P = self.balanced(mid, (1.0 - theta) * dt * u - 0.5 * dt * v)
            P = W_P.W_N @ P_N + W_P.W_T @ P_T.ravel()
            free = np.linalg.solve(self.M + soft, self.M @ v + soft @ u + theta * (dt * h + P))
            at = self.at(t + dt, self.moved(q, u, dt))
            u = free + W @ np.linalg.lstsq(at.W_g.T @ W, at.W_g.T @ (u - free) - at.g / dt, rcond=1e-13)[0]
        at = self.at(t + dt, self.moved(q, u, dt))
        ways = [x for one in (at, last) for x in (one.W_g, one.W_N[:, closed])]
        shift = self.velocity(self.moved(q, u, dt), end, dt)  # after a rotation by u dt: rotations do not commute
        self.balance("projection", shift, (), ways, self.noise / dt)
        return u

    def balanced(self, mid, displaced):
        """Directions whose moment arms are about centres of mass displaced from there, in the plane."""
        names, W_N, W_T = self.system.v_names, mid.W_N.copy(), mid.W_T.copy()
        for i, name in enumerate(names):
            if name.endswith(".angle"):
                x, y = names.index(name[:-5] + "x"), names.index(name[:-5] + "y")
                for W in (W_N, W_T):
                    W[i] -= displaced[x] * W[y] - displaced[y] * W[x]
        return mid._replace(W_N=W_N, W_T=W_T)

    def moreau_jean_midpoint(self, dt, t, q, v, end, after, left, P_N, P_T):
        whole = after
        after, P_N, P_T, impact = self.plastic(t + dt, end, after, left, P_N, P_T)
        if P_N is None:  # the next step does not know the velocities of joints in this one
            self.s = self.bend = None
            return
        point = self.moved(q, v, 0.5 * dt)
        mid, u = self.at(t + 0.5 * dt, point), 0.5 * (v + after)
        self.note("position", abs(end - self.moved(point, after, 0.5 * dt)) / (1.0 + np.max(abs(end))))
        before = mid.W_N.T @ v
        if self.stepper.moment_arms == "balanced":
            mid = self.balanced(mid, 0.5 * dt * (u - v))
        P = mid.W_N @ P_N + mid.W_T @ P_T.ravel()
        bent = 0.5 * dt * dt * self.f.linear_forces(self.p)[0] * (v - u)  # deformation is implicit, along u
        a = self.balance("motion", after - v, (dt * self.h(t + 0.5 * dt, point, u), bent, P), (mid.W_g,))
        self.reactions(dt, self.noise / dt, (t + 0.5 * dt, point, a[0]), *impact)
        bend = None if self.s is None else (mid.W_g.T @ v + mid.g_t - self.s) / dt
        if bend is not None and self.bend is not None:
            wanted = -mid.g_t - mid.g / dt - 0.375 * dt * (bend + 11.0 / 18.0 * (bend - self.bend))
            self.rates("joint rates", mid.W_g, after, wanted, self.noise / dt)
        self.s, self.bend = mid.W_g.T @ whole + mid.g_t, bend
        self.contacts_of_moreau(mid.gap <= CLOSED * self.size, mid, mid.W_g, v, after, left, P_N, P_T, before)

    def implicit_euler(self, dt, t, q, v, end, after, left, P_N, P_T):
        last = self.at(t + dt, end)
        self.note("position", abs(end - self.moved(q, after, dt)) / (1.0 + np.max(abs(end))))
        P = last.W_N @ P_N + last.W_T @ P_T.ravel()
        a = self.balance("motion", after - v, (dt * self.h(t + dt, end, after), P), (last.W_g,))
        self.reactions(dt, self.noise / dt, (t + dt, end, a[0]))
        self.modes(P_N > 0.0, P_N, P_T, frictionless_open=True)
        start = self.at(t, q)
        if not len(self.struck()):
            self.rubs(P_T, 0.5 * self.pairs(start.W_T.T @ v + last.W_T.T @ after))
        self.closes(last)
        self.gaps(dt, last, P_N)
        self.slips(last, after, P_N, P_T)

    def gaps(self, dt, last, P_N, on=slice(None)):
        """0 <= g_N  ⟂  P_N >= 0, in clearances."""
        w = self.mobility(last.W_N)
        noise = self.noise / self.size
        self.note("contacts", (abs(np.minimum(last.gap / self.size, dt * w * P_N / self.size)) - noise)[on])

    def slips(self, W, v, P_N, P_T, on=slice(None), unsure=0.0):
        """Coulomb's law between P_T and the slip at this velocity."""
        w, slip = self.mobility(W.W_N), self.pairs(W.W_T.T @ v)
        terms = np.max(self.pairs(abs(W.W_T).T @ abs(v)), axis=1, initial=0.0) + w * P_N
        self.coulomb(on, w, slip, terms + FLOOR * np.sqrt(w) * self.motion + unsure + 1e-300, P_N, P_T)

    def landing(self, dt, t, q, v, end, after, left, P_N, P_T):
        u, start, last = self.velocity(q, end, dt), self.at(t, q), self.at(t + dt, end)
        h, noise = 0.5 * dt * self.h(t + 0.5 * dt, self.moved(q, u, 0.5 * dt), u), self.noise / dt
        a, b = start.gap <= CLOSED * self.size, last.gap <= CLOSED * self.size
        if not self.newton:  # contacts that would close within the shortest step take part in an impact of other laws
            minus = last.W_N.T @ left
            b = b | ((last.gap < self.control.dt_min * abs(minus)) & (minus < 0.0))
        sides = (start, np.flatnonzero(a)), (last, np.flatnonzero(b))
        W = [np.column_stack([W.W_N[:, i], W.W_T[:, self.tangents(i)]]) for W, i in sides]
        first, a = self.balance("motion", u - v, (h,), (W[0], start.W_g), noise)
        second, b = self.balance("motion", left - u, (h,), (W[1], last.W_g), noise)
        third, c = self.balance("impact", after - left, (), (W[1], last.W_g))
        ranks = [np.linalg.matrix_rank(np.column_stack([x, y.W_g])) for x, (y, _) in zip(W, sides, strict=True)]
        if ranks == [x.shape[1] + self.system.ng for x in W]:  # impulses are unique
            self.reactions(dt, noise, (t, q, a), (t + dt, end, b), (t + dt, end, c))
            self.laws_of_landing(
                dt, start, last, u, left, after, P_N, P_T, first, second, third, *(i for _, i in sides)
            )
        if dt < (1.0 - 1e-6) * self.control.dt_max and self.control.error is None and self.k < len(self.run.t) - 1:
            closes = (last.gap <= CLOSED * self.size) & ((start.gap > CLOSED * self.size) | (start.W_N.T @ v > 0.0))
            # steps that are not certified are halved, after which steps grow again by tenths
            tenths = np.log(dt * 2.0 ** np.arange(10) / self.control.dt_max) / np.log(1.1)
            halved = np.any((np.abs(tenths - np.round(tenths)) < 1e-6) & (tenths > -0.5))
            self.note("located", not (np.any(closes) or halved or dt <= (1.0 + 1e-6) * self.control.dt_min))
        self.closes(last)
        self.rates("joint rates", last.W_g, left, -last.g_t)
        self.rates("joint rates", last.W_g, after, -last.g_t)
        self.note("gaps", np.maximum(-last.gap - self.noise, 0.0) / self.size if self.system.nc else 0.0)

    def laws_of_landing(self, dt, start, last, u, left, after, P_N, P_T, first, second, third, a, b):
        """Impulses of both halves and of the impact add up to the recorded ones, and each has its law."""
        split = [(np.zeros(P_N.size), np.zeros_like(P_T)) for _ in range(3)]
        for (N, T), x, i in zip(split, (first, second, third), (a, b, b), strict=True):
            N[i], T[i] = x[: i.size], x[i.size :].reshape(i.size, self.d)
        w = self.mobility(last.W_N)
        motion = w * self.noise / dt * np.max(self.M.diagonal()) / FOUND + FLOOR * np.sqrt(w) * self.motion + 1e-300
        for recorded, parts in ((P_N[:, None], [N[:, None] for N, _ in split]), (P_T, [T for _, T in split])):
            terms = w[:, None] * (sum(map(abs, parts)) + abs(recorded)) + motion[:, None]
            self.note("sums", abs(w[:, None] * (sum(parts) - recorded)) / terms)
        (N_1, T_1), (N_2, T_2), (N_3, T_3) = split
        on = np.isin(np.arange(P_N.size), a)
        self.gaps(dt, last, N_1, on)
        self.slips(start, u, N_1, T_1, on, motion)
        if dt > (1.0 + 1e-6) * self.control.dt_min:  # a shorter step is plastic, with all contacts
            loaded = w * N_2 > FOUND * motion / FLOOR
            terms = abs(last.W_N).T @ abs(left) + w * abs(N_2) + motion
            self.note("contacts", np.where(loaded, abs(last.W_N.T @ left), np.maximum(-w * N_2, 0.0)) / terms)
            self.slips(last, left, N_2, T_2, loaded, motion)
            if self.newton:
                now = np.isin(np.arange(P_N.size), b)
                self.impact_law(now, last, last, after, left, N_3, T_3, last.W_N.T @ left)

    def tangents(self, i):
        return (self.d * i[:, None] + np.arange(self.d)).ravel()

    def generalized_alpha(self, dt, t, q, v, end, after, left, P_N, P_T):
        rho = self.stepper.spectral_radius
        alpha_m, alpha_f = (2 * rho - 1) / (rho + 1), rho / (rho + 1)
        gamma = 0.5 + alpha_f - alpha_m
        beta = (gamma + 0.5) ** 2 / 4
        start, last = self.at(t, q), self.at(t + dt, end)
        if self.k == 1:
            self.b, self.lam = self.smooth(t, q, v, start)
            self.a = self.b
        b, lam = self.smooth(t + dt, end, after, last)
        a = ((1 - alpha_f) * b + alpha_f * self.b - alpha_m * self.a) / (1 - alpha_m)
        on = (last.gap <= CLOSED * self.size) | (P_N > 0)
        quiet = 1e-10 * (abs(start.W_N).T @ abs(v) + self.size / self.control)
        lasts = (start.gap <= CLOSED * self.size) & (abs(start.W_N.T @ v) <= 10 * quiet)
        closing = bool(np.any(on & ~lasts))
        both = np.sum(start.W_N * np.linalg.solve(self.M, last.W_N), axis=0)
        turned = both < 0.5 * np.sqrt(self.mobility(start.W_N) * self.mobility(last.W_N))
        mean = (
            last
            if closing or np.any(turned & on)
            else Point(*(0.5 * (x + y) for x, y in zip(start, last, strict=True)))
        )
        u, noise = self.velocity(q, end, dt), self.noise / dt
        drag = 0.5 * mean.W_T @ P_T.ravel()
        near = on | lasts
        displaced = u - v - dt * (0.5 - beta) * self.a - dt * beta * a
        S = self.balance("displacement", displaced, (drag,), (last.W_N[:, near], last.W_g), noise)[0]
        P = mean.W_N @ P_N + mean.W_T @ P_T.ravel()
        x = self.balance("motion", after - v - dt * (1 - gamma) * self.a - dt * gamma * a, (P,), (mean.W_g,), noise)
        self.reactions(dt, noise, (t, q, 0.5 * dt * self.lam), (t + dt, end, x[0] + 0.5 * dt * lam))
        self.strikes((start.gap > CLOSED * self.size) & (P_N > 0.0), start.W_N.T @ v, P_N)
        if not len(self.struck()):
            self.rubs(P_T, 0.5 * self.pairs(mean.W_T.T @ (v + after)))
        self.closes(last)
        self.rates("joint rates", last.W_g, after, -last.g_t)
        pressed = np.zeros(P_N.size)
        pressed[near] = S
        if np.linalg.matrix_rank(np.column_stack([last.W_N[:, near], last.W_g])) == S.size + self.system.ng:
            self.gaps(dt, last, pressed)
        self.impact_law(on, last, start, after, v, P_N, P_T, start.W_N.T @ v)
        self.a, self.b, self.lam = (b if closing else a), b, lam

    def smooth(self, t, q, v, at):
        """M b = h + W_g lam, W_g' b + bias = 0."""
        n, h = self.system.ng, self.h(t, q, v)
        bias = self.f.bias(t, q, v, self.p)[0][:n] if n else np.zeros(0)
        K = np.block([[self.M, -at.W_g], [at.W_g.T, np.zeros((n, n))]])
        return np.split(np.linalg.lstsq(K, np.concatenate([h, -bias]), rcond=1e-13)[0], [self.system.nv])

    def event_driven(self, dt, t, q, v, end, after, left, P_N, P_T):
        last = self.at(t + dt, end)
        minus = last.W_N.T @ left
        window = self.control.dt_min if self.stepper.simultaneity is None else self.stepper.simultaneity
        on = (last.gap <= CLOSED * self.size) | ((last.gap < window * abs(minus)) & (minus < 0.0))
        self.closes(last)
        self.rates("joint rates", last.W_g, left, -last.g_t)
        self.rates("joint rates", last.W_g, after, -last.g_t)
        self.note("gaps", np.maximum(-last.gap - self.noise, 0.0) / self.size if self.system.nc else 0.0)
        if np.any(after != left):
            i = np.flatnonzero(on)
            W = last.W_N[:, i], last.W_T[:, self.tangents(i)]
            P, R, _ = self.balance("impact", after - left, (), (*W, last.W_g))
            if (
                self.newton
                and np.linalg.matrix_rank(np.column_stack([*W, last.W_g])) == P.size + R.size + self.system.ng
            ):
                P_N, P_T = np.zeros(P_N.size), np.zeros_like(P_T)
                P_N[i], P_T[i] = P, R.reshape(i.size, self.d)
                # a rebound shorter than the shortest flight is none
                rebound = self.e * np.maximum(-minus, 0.0)
                b, _ = self.smooth(t + dt, end, after, last)
                bend = last.W_N.T @ b + self.f.bias(t + dt, end, after, self.p)[0][self.system.ng :][: P_N.size]
                short = 2.0 * rebound < self.control.dt_min * abs(bend)
                self.impact_law(on, last, last, after, left, P_N, P_T, np.where(short, np.maximum(minus, 0.0), minus))
        else:
            self.slides(dt, self.at(t, q), last, v, left, P_N, P_T)

    def local_error(self, k: int) -> float:
        """Error of an event-driven step, in tolerances: its start is integrated by SciPy to its end.

        Loaded contacts stay closed; those that slip at an end of the step rub against it, the others stick.
        """
        run, f, p, n, nc = self.run, self.f, self.p, self.system.ng, self.system.nc
        t, q, v, left = run.t[k - 1], run.q.array[k - 1], run.v.array[k - 1], run.left.v.array[k]
        on = np.flatnonzero(run.lam_N.array[k] > 0.0)
        ends = [self.pairs(self.at(*one).W_T.T @ u)[on] for one, u in (((t, q), v), ((run.t[k], run.q.array[k]), left))]
        way = sum(ends)
        slips = np.max(np.linalg.norm(ends, axis=2), axis=0) > 1e-6 * abs(run.v.array).max()
        ties = self.tangents(on[~slips])

        def rates(t: float, y: Any) -> Any:
            q, v = np.split(y, [self.system.nq])
            at, bias = self.at(t, q), np.split(f.bias(t, q, v, p)[0], [n, n + nc])
            slip = self.pairs(at.W_T.T @ v)[on] if self.d > 1 else way
            slip = np.where(
                np.linalg.norm(slip, axis=1)[:, None] > 1e-3 * np.linalg.norm(way, axis=1)[:, None], slip, way
            )
            against = slips[:, None] * slip / np.maximum(np.linalg.norm(slip, axis=1), 1e-300)[:, None]
            rubs = np.einsum("nij,ij->ni", at.W_T.reshape(len(v), nc, self.d)[:, on], self.mu[on][:, None] * against)
            A = np.column_stack([at.W_g, at.W_N[:, on], at.W_T[:, ties]])
            acts = np.column_stack([at.W_g, at.W_N[:, on] - rubs, at.W_T[:, ties]])
            K = np.block([[self.M, -acts], [A.T, np.zeros((A.shape[1], A.shape[1]))]])
            wanted = -np.concatenate([bias[0], bias[1][on], bias[2][ties]])
            a = np.linalg.lstsq(K, np.concatenate([self.h(t, q, v), wanted]), rcond=1e-13)[0][: len(v)]
            return np.concatenate([f.B(q)[0] @ v, a])

        found = solve_ivp(rates, (t, run.t[k]), np.concatenate([q, v]), "DOP853", rtol=1e-10, atol=1e-12).y[:, -1]
        error = abs(found[self.system.nq :] - left)
        return float(np.max(error / (self.control.atol + self.control.rtol * np.maximum(abs(v), abs(left)))))

    def slides(self, dt, start, last, v, left, P_N, P_T):
        """Contacts in a smooth step: forces only where both ends are closed, in the cone, against the slip."""
        closed = (start.gap <= CLOSED * self.size) & (last.gap <= CLOSED * self.size)
        w, length = self.mobility(last.W_N), np.linalg.norm(P_T, axis=1)
        terms = w * P_N + FLOOR * np.sqrt(w) * self.motion + 1e-300
        self.note("contacts", w * np.where(closed, np.maximum(-P_N, 0.0), abs(P_N)) / terms)
        self.note("friction", w * np.maximum(length - (1.0 + 1e-6) * self.mu * P_N, 0.0) / terms)
        if self.d == 1:
            one, other = start.W_T.T @ v, last.W_T.T @ left
            slips = closed & (one * other > 0.0) & (np.minimum(abs(one), abs(other)) > 1e-6 * abs(v).max())
            self.note("friction", (w * abs(P_T[:, 0] + np.sign(one) * self.mu * P_N) / terms)[slips] - 1e-6)

    def compliant(self, dt, t, q, v, end, after, left, P_N, P_T):
        last = self.at(t + dt, end)
        self.closes(last)
        self.rates("joint rates", last.W_g, after, -last.g_t)
        self.note("left", abs(after - left))


def violations(run: Any, system: Any, stepper: Any, control: Any, **looser: float) -> dict[str, float]:
    """The largest residual of each kind that is above 1e-9, or above what is given for its kind.

    Steps are certified to 1e-10 of their own scales: a factor is left for those that differ.
    """
    found = Reference(run, system, stepper, control).residuals()
    return {kind: float(np.max(rows)) for kind, rows in found.items() if not np.max(rows) <= looser.get(kind, 1e-9)}


def enumerate_modes(G: Any, b: Any, mu: Any, tolerance: float = 1e-9) -> list[tuple[tuple[str, ...], Any, Any]]:
    """All solutions of a planar step's complementarity problem with up to four contacts, by contact modes.

    ``gamma = G P + b``, with P and gamma (2 n) normal and tangential one after the other: 0 <= gamma_N ⟂ P_N >= 0 and
    Coulomb's law. Each contact is open, sticks, or slips in one direction ("+": gamma_T > 0), which makes the problem
    linear; solutions that satisfy the inequalities of their modes are returned as (modes, P, gamma).
    """
    n, found = len(mu), []
    assert n <= 4
    if n == 0:
        return [((), np.zeros(0), np.zeros(0))]
    size = 1.0 + np.max(np.abs(b), initial=0.0)
    for modes in product(("open", "stick", "+", "-"), repeat=n):
        A, right = np.zeros((2 * n, 2 * n)), np.zeros(2 * n)
        for i, mode in enumerate(modes):
            N, T = 2 * i, 2 * i + 1
            if mode == "open":
                A[N, N] = A[T, T] = 1.0
                continue
            A[N], right[N] = G[N], -b[N]
            if mode == "stick":
                A[T], right[T] = G[T], -b[T]
            else:
                A[T, T], A[T, N] = 1.0, mu[i] if mode == "+" else -mu[i]
        scale = np.max(abs(A), axis=1)
        P = np.linalg.lstsq(A / scale[:, None], right / scale, rcond=1e-12)[0]
        gamma = G @ P + b
        fits = np.max(abs(A @ P - right) / scale, initial=0.0) <= tolerance * size
        for i, mode in enumerate(modes):
            N, T = 2 * i, 2 * i + 1
            w = G[N, N]
            inside = w * abs(P[T]) <= w * mu[i] * P[N] + tolerance * size
            slips = (1.0 if mode == "+" else -1.0) * gamma[T] >= -tolerance * size if mode in "+-" else True
            fits = fits and gamma[N] >= -tolerance * size and w * P[N] >= -tolerance * size and inside and slips
        if fits:
            found.append((modes, P, gamma))
    return found


def step_problem(reference: Reference, k: int) -> tuple[Any, Any, Any, Any]:
    """G, b, mu of the closed contacts of row k of a planar run of `MoreauJean`, and the recorded impulses.

    Forces and the impulses of joints at the start are those of the recorded step; joints at its end follow.
    """
    run, r = reference.run, reference
    r.k = k
    dt, t, q, v = run.t[k] - run.t[k - 1], run.t[k - 1], run.q.array[k - 1], run.v.array[k - 1]
    after, end = run.v.array[k], run.q.array[k]
    mid, last = r.at(t + 0.5 * dt, r.moved(q, v, 0.5 * dt)), r.at(t + dt, end)
    on = np.flatnonzero(mid.gap <= CLOSED * r.size)
    W = np.stack([mid.W_N[:, on], mid.W_T[:, on]], axis=2).reshape(len(v), -1)
    P = np.stack([run.P_N.array[k][on], run.P_T.array[k][on]], axis=1).ravel()
    A = np.linalg.solve(r.M, np.column_stack([W, last.W_g]))
    m = W.shape[1]
    joints = np.linalg.lstsq(last.W_g.T @ A[:, m:], last.W_g.T @ A[:, :m], rcond=1e-13)[0]
    G = W.T @ (A[:, :m] - A[:, m:] @ joints)
    minus = mid.W_N.T @ v
    shift = np.where(-minus > r.threshold, r.e * np.minimum(minus, 0.0), 0.0)[on]
    slip = (np.where(minus < 0.0, r.e_T, 0.0) * (mid.W_T.T @ v))[on]
    gamma = W.T @ after + np.stack([shift, slip], axis=1).ravel()
    return G, gamma - G @ P, r.mu[on], P
