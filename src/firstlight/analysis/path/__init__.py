"""The critical path of a boot: steps, what came before what, the chain, its slack, and what a change would do."""
