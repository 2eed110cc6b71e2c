-- The run in which the last attempt of a job failed: {"run":…,"blueprint":…,"block":…} as JSON. NULL: it failed without one.
ALTER TABLE job ADD COLUMN failed_in TEXT;
