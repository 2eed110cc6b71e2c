-- Of the free-text index: how many documents are in it, and how many tokens they have together. Ranking divides by them, and
-- FTS5's own totals never go down. NULL = not counted yet (text-totals.ts counts when the database is opened).
ALTER TABLE storage ADD COLUMN text_documents INTEGER;
ALTER TABLE storage ADD COLUMN text_tokens INTEGER;
