"""Config, plan, stages, store and executors."""
