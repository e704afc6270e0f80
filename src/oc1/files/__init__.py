"""Files in and out: tables of examples, and fitted models."""
