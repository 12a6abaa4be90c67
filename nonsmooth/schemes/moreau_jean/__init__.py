"""moreau_jean."""
