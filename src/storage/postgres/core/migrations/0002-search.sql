-- What searches need (field-sql.ts, sort-key.ts, postgres-text-index.ts).
--
-- The key of a value: a text that is equal for equal values and sorts (COLLATE "C") as values do. NULL for what counts as
-- missing (null, arrays, objects); 'n' and 16 hex digits for numbers, true (1) and false (0); 's' and the text for texts.
--
-- The functions call nothing but pg_catalog: a dump is restored with an empty search path, and the indexes use them.
CREATE FUNCTION quoin_full_key(item json) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 10 AS $$
DECLARE
  digits text;
BEGIN
  CASE json_typeof(item)
    WHEN 'string' THEN
      RETURN 's' || (item #>> '{}');
    WHEN 'number' THEN
      -- Adding zero makes minus zero zero.
      digits := encode(float8send((item #>> '{}')::float8 + 0), 'hex');
      IF digits < '8' COLLATE "C" THEN
        RETURN 'n' || translate(left(digits, 1), '01234567', '89abcdef') || substr(digits, 2);
      END IF;
      RETURN 'n' || translate(digits, '0123456789abcdef', 'fedcba9876543210');
    WHEN 'boolean' THEN
      RETURN CASE WHEN item::text = 'true' THEN 'nbff0000000000000' ELSE 'n8000000000000000' END;
    ELSE
      RETURN NULL;
  END CASE;
END $$;

-- The key as indexes hold it. An entry of a btree must stay under 2,700 bytes and an index has up to 8 fields, so a text of
-- more than 300 bytes (UTF-8) is there by its beginning and its hash: enough to be unique, of no use for equality or order.
-- Such texts, and arrays, whose items match one by one, are odd. Where a field has odd values, searches use the full key.
CREATE FUNCTION quoin_key(item json) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 10 AS $$
DECLARE
  digits text;
BEGIN
  CASE json_typeof(item)
    WHEN 'string' THEN
      digits := item #>> '{}';
      IF octet_length(digits) <= 300 THEN
        RETURN 's' || digits;
      END IF;
      RETURN 's' || left(digits, 50) || encode(sha256(convert_to(digits, 'UTF8')), 'hex');
    WHEN 'number' THEN
      digits := encode(float8send((item #>> '{}')::float8 + 0), 'hex');
      IF digits < '8' COLLATE "C" THEN
        RETURN 'n' || translate(left(digits, 1), '01234567', '89abcdef') || substr(digits, 2);
      END IF;
      RETURN 'n' || translate(digits, '0123456789abcdef', 'fedcba9876543210');
    WHEN 'boolean' THEN
      RETURN CASE WHEN item::text = 'true' THEN 'nbff0000000000000' ELSE 'n8000000000000000' END;
    ELSE
      RETURN NULL;
  END CASE;
END $$;

CREATE FUNCTION quoin_odd(item json) RETURNS boolean LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 10 AS $$
BEGIN
  CASE json_typeof(item)
    WHEN 'array' THEN RETURN true;
    WHEN 'string' THEN RETURN octet_length(item #>> '{}') > 300;
    ELSE RETURN false;
  END CASE;
END $$;

-- The two below read a field once, where expressions would read the document three times (4 µs for 600 bytes).
--
-- Whether a value of this JSON type, or one item of an array, is this one (as JSON writes it, without quotes).
CREATE FUNCTION quoin_equals(item json, kind text, wanted text) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 10 AS $$
BEGIN
  CASE json_typeof(item)
    WHEN kind THEN
      RETURN CASE WHEN kind = 'number' THEN (item #>> '{}')::float8 = wanted::float8 ELSE item #>> '{}' = wanted END;
    WHEN 'array' THEN
      RETURN EXISTS (SELECT FROM json_array_elements(item) AS items(one) WHERE json_typeof(one) = kind
        AND CASE WHEN kind = 'number' THEN (one #>> '{}')::float8 = wanted::float8 ELSE one #>> '{}' = wanted END);
    ELSE
      RETURN false;
  END CASE;
END $$;

-- Whether the key of a value of this JSON type, or of one item of an array, is within bounds (gte, gt, lte, lt). NULL is none.
CREATE FUNCTION quoin_within(item json, kind text, first text, after text, last text, before text) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE COST 10 AS $$
DECLARE
  key text COLLATE "C";
BEGIN
  CASE json_typeof(item)
    WHEN kind THEN
      key := quoin_full_key(item);
      RETURN (first IS NULL OR key >= first) AND (after IS NULL OR key > after)
        AND (last IS NULL OR key <= last) AND (before IS NULL OR key < before);
    WHEN 'array' THEN
      RETURN EXISTS (SELECT FROM json_array_elements(item) AS items(one)
        WHERE json_typeof(one) = kind AND quoin_within(one, kind, first, after, last, before));
    ELSE
      RETURN false;
  END CASE;
END $$;

-- How many documents and tokens a storage's free text has: what ranking needs and counting would take too long for.
-- Each write adds a row, so that writers never wait for each other; one write in 64 puts the rows together that nobody
-- else is putting together. The sum over a storage's rows is exact in every snapshot.
CREATE TABLE text_total (storage integer NOT NULL, documents bigint NOT NULL, tokens bigint NOT NULL);
CREATE INDEX text_total_storage ON text_total (storage);

-- Trigger of a document table with free text; its argument is the storage's number.
CREATE FUNCTION quoin_text_total() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  number integer := TG_ARGV[0];
  was integer := CASE WHEN TG_OP = 'INSERT' THEN NULL ELSE OLD.token_count END;
  now integer := CASE WHEN TG_OP = 'DELETE' THEN NULL ELSE NEW.token_count END;
BEGIN
  IF was IS NOT DISTINCT FROM now THEN
    RETURN NULL;
  END IF;
  INSERT INTO text_total (storage, documents, tokens)
    VALUES (number, num_nonnulls(now) - num_nonnulls(was), coalesce(now, 0) - coalesce(was, 0));
  IF random() * 64 < 1 THEN
    WITH gone AS (
      DELETE FROM text_total WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM text_total WHERE storage = number LIMIT 500 FOR UPDATE SKIP LOCKED))
      RETURNING documents, tokens)
    INSERT INTO text_total (storage, documents, tokens)
      SELECT number, sum(documents), sum(tokens) FROM gone HAVING count(*) > 0;
  END IF;
  RETURN NULL;
END $$;
