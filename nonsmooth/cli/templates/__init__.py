"""Files that `nonsmooth new` writes."""
