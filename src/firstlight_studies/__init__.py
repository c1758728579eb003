"""The classic studies, on the public interface of Firstlight alone: :mod:`firstlight` and :mod:`firstlight.study`."""
