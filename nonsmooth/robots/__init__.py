"""Mechanisms from files of robots, MJCF and URDF, which the reader of MuJoCo compiles."""

#: how names of such files end
ENDINGS = (".xml", ".mjcf", ".urdf")
