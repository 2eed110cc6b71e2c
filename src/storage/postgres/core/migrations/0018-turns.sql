-- Locks of units of work that come one after the other over all nodes: see session-transaction.ts. Nothing is ever stored here.
-- Tables, because LOCK TABLE before the first read does not settle what a transaction sees, while an advisory lock does.
DO $$
BEGIN
  FOR number IN 0..15 LOOP
    EXECUTE format('CREATE TABLE turn_%s ()', number);
  END LOOP;
END $$;
