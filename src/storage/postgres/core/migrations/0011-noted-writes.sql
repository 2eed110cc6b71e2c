-- What was written since a moment, for nodes that keep replies and totals in memory (src/storage/postgres/kept). A storage's
-- table gets its trigger when a node first wants to keep something of it. Not logged: a server that lost its memory has an empty
-- table, and nodes see that by another life, as they do on a standby that has taken over.
ALTER TABLE storage ADD COLUMN noted boolean NOT NULL DEFAULT false;

CREATE UNLOGGED TABLE noted_write (
  xid xid8 NOT NULL,
  storage integer NOT NULL,
  guid text COLLATE "C" NOT NULL
);
CREATE INDEX noted_write_xid ON noted_write (xid);

CREATE UNLOGGED TABLE noted_write_life (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  life uuid NOT NULL DEFAULT gen_random_uuid()
);

CREATE FUNCTION quoin_note_write() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO noted_write (xid, storage, guid)
    VALUES (pg_current_xact_id(), TG_ARGV[0]::integer, CASE WHEN TG_OP = 'DELETE' THEN OLD.guid ELSE NEW.guid END);
  RETURN NULL;
END $$;
