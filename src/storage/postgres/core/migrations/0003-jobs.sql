-- Work for later. Times are milliseconds; 0 = not yet. `id` is the order of enqueueing and never used again.
-- held: while an earlier live job has the same order_key; at most one live job of an order_key is not held.
CREATE TABLE job (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  guid text COLLATE "C" NOT NULL UNIQUE,
  queue text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL,
  title text COLLATE "C" NOT NULL,
  payload text COLLATE "C" NOT NULL,
  state text COLLATE "C" NOT NULL DEFAULT 'waiting',
  held boolean NOT NULL DEFAULT false,
  priority integer NOT NULL,
  run_at bigint NOT NULL,
  attempt integer NOT NULL DEFAULT 0,
  attempts integer NOT NULL,
  created bigint NOT NULL,
  updated bigint NOT NULL,
  started bigint NOT NULL DEFAULT 0,
  finished bigint NOT NULL DEFAULT 0,
  lease_until bigint NOT NULL DEFAULT 0,
  owner text COLLATE "C" NOT NULL DEFAULT '',
  dedupe_key text COLLATE "C",
  order_key text COLLATE "C",
  last_error text COLLATE "C",
  version integer NOT NULL DEFAULT 1
)
-- Every job is updated at least twice and then deleted: its dead rows go early, before claiming has to step over many.
WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500);

CREATE UNIQUE INDEX job_dedupe ON job (dedupe_key)
  WHERE dedupe_key IS NOT NULL AND state IN ('waiting', 'running');
CREATE INDEX job_order ON job (order_key, id)
  WHERE order_key IS NOT NULL AND state IN ('waiting', 'running');
-- The order of claiming, and whether anything is due at all: the first alone would walk over all that is delayed.
CREATE INDEX job_claim ON job (queue, priority DESC, run_at, id) WHERE state = 'waiting' AND NOT held;
CREATE INDEX job_due ON job (queue, run_at) WHERE state = 'waiting' AND NOT held;
CREATE INDEX job_lease ON job (lease_until) WHERE state = 'running';
CREATE INDEX job_done ON job (finished) WHERE state = 'done';
CREATE INDEX job_state ON job (queue, state);
CREATE INDEX job_created ON job (created, guid);

-- Settings of queues, and the lock of those with a concurrency. A queue without settings needs no row: on SQLite it has
-- one, but here a row would have to be locked by whoever enqueues, so that nobody deletes it meanwhile.
CREATE TABLE queue (
  name text COLLATE "C" PRIMARY KEY,
  paused boolean NOT NULL DEFAULT false,
  concurrency integer
);
