-- The totals of free text are gathered by a number of their rows, not by where these lie (ctid), which some databases that
-- speak PostgreSQL's language do not know. Only the few rows of one storage are looked at, so the number needs no index.
ALTER TABLE text_total ADD COLUMN id bigint GENERATED ALWAYS AS IDENTITY;

CREATE OR REPLACE FUNCTION quoin_text_total() RETURNS trigger LANGUAGE plpgsql AS $$
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
      DELETE FROM text_total WHERE storage = number AND id = ANY (ARRAY(
        SELECT id FROM text_total WHERE storage = number LIMIT 500 FOR UPDATE SKIP LOCKED))
      RETURNING documents, tokens)
    INSERT INTO text_total (storage, documents, tokens)
      SELECT number, sum(documents), sum(tokens) FROM gone HAVING count(*) > 0;
  END IF;
  RETURN NULL;
END $$;
