-- When the documents were created whose writes are noted, so that a node knows which part of a storage was written
-- (src/storage/postgres/kept/kept-parts.ts). NULL: noted before this step, which may be any part.
ALTER TABLE noted_write ADD COLUMN created bigint;

-- The triggers of storages call it by its name, so writes of nodes of the version before have `created` too. A document whose
-- `created` changes, by SQL of others, is in another part then: both parts were written.
CREATE OR REPLACE FUNCTION quoin_note_write() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN
    INSERT INTO noted_write (xid, storage, guid, created)
      VALUES (pg_current_xact_id(), TG_ARGV[0]::integer, OLD.guid, OLD.created);
    RETURN NULL;
  END IF;
  INSERT INTO noted_write (xid, storage, guid, created)
    VALUES (pg_current_xact_id(), TG_ARGV[0]::integer, NEW.guid, NEW.created);
  IF TG_OP = 'UPDATE' THEN
    IF OLD.created <> NEW.created THEN
      INSERT INTO noted_write (xid, storage, guid, created)
        VALUES (pg_current_xact_id(), TG_ARGV[0]::integer, OLD.guid, OLD.created);
    END IF;
  END IF;
  RETURN NULL;
END $$;
