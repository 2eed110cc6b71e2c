-- Fields whose values are unique together. definition: {"name":…,"fields":[…]}. ready: false while the values of the
-- documents are being collected in the table unique_N, N being the number here.
CREATE TABLE unique_key (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  storage integer NOT NULL REFERENCES storage (id) ON DELETE CASCADE,
  definition json NOT NULL,
  ready boolean NOT NULL DEFAULT false
);

-- Whether the node writes the values of unique keys. Nodes of the versions before do not, and do not say so.
ALTER TABLE node ADD COLUMN unique_keys boolean NOT NULL DEFAULT false;
