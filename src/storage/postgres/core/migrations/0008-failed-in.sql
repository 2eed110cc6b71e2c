-- The run in which the last attempt of a job failed: {"run":…,"blueprint":…,"block":…} as JSON. NULL: it failed without one,
-- or on a node of the version before.
ALTER TABLE job ADD COLUMN failed_in text COLLATE "C";
