"""P1 in Exudyn: generalized-alpha, walls as stiff springs. Run by an interpreter that has Exudyn.

``python exudyn_models.py DT STEPS`` prints a JSON list with one entry per case.
"""

from __future__ import annotations

import json
import sys
import time

import exudyn  # type: ignore[import-not-found, unused-ignore]
import numpy as np
from exudyn import itemInterface as items  # type: ignore[import-not-found, unused-ignore]

MASS, INERTIA, HALF, CLEARANCE, PUSH, GRAVITY = 5.0, 8e-4, 0.01, 1e-5, 50.0, 9.81
CASES = {1: (0.0, GRAVITY), 2: (0.5e-3, GRAVITY), 3: (10e-3, 0.0)}
STIFFNESS, DAMPING = 2.5e9, 2.5e4


def slider_rod(case: int, dt: float, steps: int) -> dict[str, float]:
    """The heights of both ends as coordinates, linear in the angle, which stays below 1e-3; stops at -c and c."""
    offset, gravity = CASES[case]
    same, other = MASS / 4 + INERTIA / (4 * HALF**2), MASS / 4 - INERTIA / (4 * HALF**2)
    turn = offset * PUSH / (2 * HALF)
    container = exudyn.SystemContainer()
    system = container.AddSystem()
    node = system.AddNode(
        items.NodeGenericODE2(
            referenceCoordinates=[0, 0],
            initialCoordinates=[0, 0],
            initialCoordinates_t=[0, 0],
            numberOfODE2Coordinates=2,
        )
    )
    system.AddObject(
        items.ObjectGenericODE2(
            nodeNumbers=[node],
            massMatrix=np.array([[same, other], [other, same]]),
            forceVector=np.array([turn - MASS * gravity / 2, -turn - MASS * gravity / 2]),
        )
    )
    ground = system.AddMarker(
        items.MarkerNodeCoordinate(nodeNumber=system.AddNode(items.NodePointGround()), coordinate=0)
    )
    for end in (0, 1):
        marker = system.AddMarker(items.MarkerNodeCoordinate(nodeNumber=node, coordinate=end))
        memory = system.AddNode(items.NodeGenericData(initialCoordinates=[0, 0, 0], numberOfDataCoordinates=3))
        system.AddObject(
            items.CoordinateSpringDamperExt(
                markerNumbers=[ground, marker],
                nodeNumber=memory,
                useLimitStops=True,
                limitStopsLower=-CLEARANCE,
                limitStopsUpper=CLEARANCE,
                limitStopsStiffness=STIFFNESS,
                limitStopsDamping=DAMPING,
            )
        )
    ends = system.AddSensor(
        items.SensorNode(nodeNumber=node, storeInternal=True, outputVariableType=exudyn.OutputVariableType.Coordinates)
    )
    system.Assemble()
    settings = exudyn.SimulationSettings()
    settings.timeIntegration.numberOfSteps = steps
    settings.timeIntegration.endTime = dt * steps
    settings.timeIntegration.verboseMode = 0
    settings.solutionSettings.writeSolutionToFile = False
    settings.solutionSettings.sensorsWritePeriod = dt
    begin = time.perf_counter()
    system.SolveDynamic(settings)
    spent = time.perf_counter() - begin
    heights = np.asarray(system.GetSensorStoredData(ends))[:, 1:]
    height = 0.0 if case == 3 else -CLEARANCE
    return {
        "ns_per_step": 1e9 * spent / steps,
        "violation": max(0.0, float(np.max(np.abs(heights))) - CLEARANCE),
        "error": abs(float(np.mean(heights[-1])) - height),
    }


if __name__ == "__main__":
    print(json.dumps([slider_rod(case, float(sys.argv[1]), int(sys.argv[2])) for case in CASES]))
