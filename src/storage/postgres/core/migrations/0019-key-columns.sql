-- Key columns of document tables (src/storage/postgres/core/key-columns.ts): kN and vN of the field with the number N in a storage.
-- An index over columns can be read without the documents, and an update that leaves them as they are changes no index.
--
-- ready: every document has them. Until then, documents up to the guid `filled` have, and those written since the column is there.
CREATE TABLE key_column (
  storage integer NOT NULL REFERENCES storage (id) ON DELETE CASCADE,
  number integer NOT NULL,
  field text COLLATE "C" NOT NULL,
  ready boolean NOT NULL DEFAULT false,
  filled text COLLATE "C" NOT NULL DEFAULT '',
  PRIMARY KEY (storage, number),
  UNIQUE (storage, field)
);

-- Nodes of a version before do not know them, and need the indexes over expressions.
ALTER TABLE node ADD COLUMN key_columns boolean NOT NULL DEFAULT false;

-- As quoin_key of what is plain. What is not is from 't' on, so that a search can ask whether there is any: texts of more than 300
-- bytes (by their beginning and hash), arrays and objects (each different, since unique indexes do not compare them).
CREATE FUNCTION quoin_column_key(item json, guid text) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 10 AS $$
DECLARE
  letters text;
BEGIN
  CASE json_typeof(item)
    WHEN 'string' THEN
      letters := item #>> '{}';
      IF octet_length(letters) <= 300 THEN
        RETURN 's' || letters;
      END IF;
      RETURN 't' || left(letters, 50) || encode(sha256(convert_to(letters, 'UTF8')), 'hex');
    WHEN 'number', 'boolean' THEN
      RETURN quoin_key(item);
    WHEN 'null' THEN
      RETURN NULL;
    ELSE
      RETURN 'u' || guid;
  END CASE;
END $$;

-- What a number is exactly, and how numbers are told from true and false, which have the same keys.
CREATE FUNCTION quoin_column_number(item json) RETURNS numeric LANGUAGE sql IMMUTABLE PARALLEL SAFE COST 10 AS $$
  SELECT CASE WHEN json_typeof(item) = 'number' THEN (item #>> '{}')::numeric END
$$;
