"""Mechanisms from files of robots, MJCF and URDF, which the reader of MuJoCo compiles; and back."""

#: how names of such files end
ENDINGS = (".xml", ".mjcf", ".urdf")
