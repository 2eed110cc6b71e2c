-- Fields whose values are unique together. definition: {"name":…,"fields":[…]} as JSON. ready: 0 while the values of the
-- documents are being collected in the table unique_N, N being the number here, which is never used again.
CREATE TABLE unique_key (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  storage INTEGER NOT NULL REFERENCES storage (id) ON DELETE CASCADE,
  definition TEXT NOT NULL,
  ready INTEGER NOT NULL DEFAULT 0
) STRICT;
