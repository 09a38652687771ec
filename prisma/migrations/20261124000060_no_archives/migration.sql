-- Versions from this one on read no files of archived partitions: what was dropped has to be in the table again. The
-- table "archives" stays for the version before, which reads it; a later contract step drops it.
DO $$
BEGIN
  IF EXISTS (SELECT FROM "archives" WHERE "dropped_ms" IS NOT NULL) THEN
    RAISE EXCEPTION 'Entries of the journal are archived: run `clusterd archive --restore` with the version before this one.';
  END IF;
END $$;
