-- PostgreSQL counts its failovers: each standby that becomes a primary begins a new timeline. A lease is renewed without
-- waiting for standbys, so on the new primary it may be older than what its node believes.
--
-- 0 where a database that only speaks like PostgreSQL has no such thing.
CREATE FUNCTION quoin_timeline() RETURNS integer LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::integer;
EXCEPTION WHEN feature_not_supported OR insufficient_privilege OR undefined_function THEN
  RETURN 0;
END $$;

-- On which timeline a node has joined. NULL: a node of the version before, whose leases wait for standbys.
ALTER TABLE node ADD COLUMN timeline integer;

-- Since when a timeline is known: no node of an earlier one answers for longer than a lease from then on.
CREATE TABLE timeline (number integer PRIMARY KEY, since timestamptz NOT NULL DEFAULT now());
INSERT INTO timeline (number, since) VALUES (quoin_timeline(), '-infinity');
