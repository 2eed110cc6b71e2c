-- Work for later. Times are milliseconds; 0 = not yet. `id` is the order of enqueueing and never used again.
-- held: 1 while an earlier live job has the same order_key; at most one live job of an order_key is not held.
CREATE TABLE job (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  guid TEXT NOT NULL UNIQUE,
  queue TEXT NOT NULL,
  kind TEXT NOT NULL,
  title TEXT NOT NULL,
  payload TEXT NOT NULL,
  state TEXT NOT NULL DEFAULT 'waiting',
  held INTEGER NOT NULL DEFAULT 0,
  priority INTEGER NOT NULL,
  run_at INTEGER NOT NULL,
  attempt INTEGER NOT NULL DEFAULT 0,
  attempts INTEGER NOT NULL,
  created INTEGER NOT NULL,
  updated INTEGER NOT NULL,
  started INTEGER NOT NULL DEFAULT 0,
  finished INTEGER NOT NULL DEFAULT 0,
  lease_until INTEGER NOT NULL DEFAULT 0,
  owner TEXT NOT NULL DEFAULT '',
  dedupe_key TEXT,
  order_key TEXT,
  last_error TEXT,
  version INTEGER NOT NULL DEFAULT 1
) STRICT;

CREATE UNIQUE INDEX job_dedupe ON job (dedupe_key)
  WHERE dedupe_key IS NOT NULL AND state IN ('waiting', 'running');
CREATE INDEX job_order ON job (order_key, id)
  WHERE order_key IS NOT NULL AND state IN ('waiting', 'running');
-- The order of claiming, and whether anything is due at all: the first alone would walk over all that is delayed.
CREATE INDEX job_claim ON job (queue, priority DESC, run_at, id) WHERE state = 'waiting' AND held = 0;
CREATE INDEX job_due ON job (queue, run_at) WHERE state = 'waiting' AND held = 0;
CREATE INDEX job_lease ON job (lease_until) WHERE state = 'running';
CREATE INDEX job_done ON job (finished) WHERE state = 'done';
CREATE INDEX job_state ON job (queue, state);
CREATE INDEX job_created ON job (created, guid);

-- A row for each queue that something was ever enqueued in, until it is empty and has no settings.
CREATE TABLE queue (
  name TEXT PRIMARY KEY,
  paused INTEGER NOT NULL DEFAULT 0,
  concurrency INTEGER
) STRICT, WITHOUT ROWID;
