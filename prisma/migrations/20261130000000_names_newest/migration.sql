-- The newest names (src/db/registry/directory.ts). With many names make it by hand before, with CREATE INDEX CONCURRENTLY on each partition.
CREATE INDEX IF NOT EXISTS "names_newest_idx" ON "names" ("seq") WHERE "outcome" = 1;
