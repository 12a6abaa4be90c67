from setuptools import find_packages, setup

PACKAGES = find_packages(include=["nonsmooth*", "problems*"])
setup(
    packages=["nonsmooth_" + name if name.startswith("problems") else name for name in PACKAGES],
    package_dir={"nonsmooth_problems": "problems"},
)
