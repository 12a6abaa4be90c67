"""How contact answers: scalars in, scalars out. A law knows no geometry."""
