-- Which storages there are. Numbers are never used again, so a table's name means one storage for ever.
-- text: -1 = no free-text index; else documents up to this row number are in it. text_complete: all are.
CREATE TABLE storage (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL UNIQUE,
  text INTEGER NOT NULL DEFAULT -1,
  text_complete INTEGER NOT NULL DEFAULT 0
) STRICT;

-- definition: {"fields":[…],"unique":…} as JSON, to name the fields when a unique index refuses a document.
CREATE TABLE storage_index (
  storage INTEGER NOT NULL REFERENCES storage (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  definition TEXT NOT NULL,
  PRIMARY KEY (storage, name)
) STRICT, WITHOUT ROWID;

-- Which JSON types each field has ever had (bits of document-shape.ts).
CREATE TABLE storage_shape (
  storage INTEGER NOT NULL REFERENCES storage (id) ON DELETE CASCADE,
  field TEXT NOT NULL,
  types INTEGER NOT NULL,
  PRIMARY KEY (storage, field)
) STRICT, WITHOUT ROWID;
