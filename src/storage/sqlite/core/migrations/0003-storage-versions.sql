-- For other processes that read this database. version: raised in each transaction that writes documents of the storage;
-- shaped: raised too when its shape grew. Kept only while there are such processes, and compared only by them.
ALTER TABLE storage ADD COLUMN version INTEGER NOT NULL DEFAULT 0;
ALTER TABLE storage ADD COLUMN shaped INTEGER NOT NULL DEFAULT 0;
