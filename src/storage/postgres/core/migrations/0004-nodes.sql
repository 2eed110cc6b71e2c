-- Who is in the cluster, and what a node has to hear of before a write is acknowledged. All times are the database's.
-- applied: up to which change the node has done what follows from it.
CREATE TABLE node (
  guid text COLLATE "C" PRIMARY KEY,
  name text NOT NULL,
  version text NOT NULL,
  started timestamptz NOT NULL DEFAULT now(),
  seen timestamptz NOT NULL DEFAULT now(),
  lease_until timestamptz NOT NULL,
  load real NOT NULL DEFAULT 0,
  applied bigint NOT NULL
);

-- documents: {"storage":["guid", …]}. Numbers are given in the order of commits: the counter's row is locked from the
-- announcement, which is a transaction's last statement, to the commit.
CREATE TABLE change (
  number bigint PRIMARY KEY,
  node text NOT NULL,
  documents json NOT NULL,
  created timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE change_counter (one boolean PRIMARY KEY DEFAULT true CHECK (one), number bigint NOT NULL);
INSERT INTO change_counter (number) VALUES (0);
