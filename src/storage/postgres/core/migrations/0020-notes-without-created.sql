-- Figures of groups are read from key columns and no longer kept by the time of creation, so notes of writes need not name it.
-- A node of the version before finds NULL there and works all groups out again. The column is dropped in a later version, when no
-- node reads it any more.
CREATE OR REPLACE FUNCTION quoin_note_write() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO noted_write (xid, storage, guid)
    VALUES (pg_current_xact_id(), TG_ARGV[0]::integer, CASE WHEN TG_OP = 'DELETE' THEN OLD.guid ELSE NEW.guid END);
  RETURN NULL;
END $$;
