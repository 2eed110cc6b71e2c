-- Numbers that fields are given. name: storage, a blank, field. last: the highest number given, which is never given again,
-- also when its document is deleted. The row is short and is updated by each new document: room beside it, so that an update
-- stays on its page.
CREATE TABLE counter (
  name text COLLATE "C" PRIMARY KEY,
  last bigint NOT NULL
)
WITH (fillfactor = 20);

-- A transaction of its own, which does not wait for the disk: the row is locked for this statement and not until the document is
-- committed. The commit of the document comes later in the log, so when that is on disk (and on standbys), this is too. When
-- that is lost, so may be this: no document has the number then.
CREATE FUNCTION quoin_count(counter_name text, wanted bigint, above bigint) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  reached bigint;
BEGIN
  PERFORM set_config('synchronous_commit', 'off', true);
  INSERT INTO counter AS kept (name, last) VALUES (counter_name, above + wanted)
    ON CONFLICT (name) DO UPDATE SET last = greatest(kept.last, above) + wanted
    RETURNING kept.last INTO reached;
  RETURN reached;
END $$;
