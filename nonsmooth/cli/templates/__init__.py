"""What `nonsmooth new` writes."""
