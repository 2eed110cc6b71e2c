-- Which storages there are. Numbers are never used again, so a table's name means one storage for ever.
-- text: 0 = no free text; 1 = every write fills tokens, older documents lack them; 2 = all documents have them.
CREATE TABLE storage (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text COLLATE "C" NOT NULL UNIQUE,
  text smallint NOT NULL DEFAULT 0
);

-- Those that are complete. definition: {"fields":[…],"unique":…}, to name the fields when one refuses a document.
CREATE TABLE storage_index (
  storage integer NOT NULL REFERENCES storage (id) ON DELETE CASCADE,
  name text COLLATE "C" NOT NULL,
  definition json NOT NULL,
  PRIMARY KEY (storage, name)
);
