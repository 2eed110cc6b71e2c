-- How far free text has come in a storage that was full when it was wanted (text = 1). All documents up to text_guid have
-- tokens, so whoever goes on begins behind it. text_done of about text_total documents were looked at.
ALTER TABLE storage
  ADD COLUMN text_guid text COLLATE "C" NOT NULL DEFAULT '',
  ADD COLUMN text_done bigint NOT NULL DEFAULT 0,
  ADD COLUMN text_total bigint NOT NULL DEFAULT 0;
