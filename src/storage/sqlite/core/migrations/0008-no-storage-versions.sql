-- Only reading processes compared these, and there are none any more.
ALTER TABLE storage DROP COLUMN version;
ALTER TABLE storage DROP COLUMN shaped;
