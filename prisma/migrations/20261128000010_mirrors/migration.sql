-- Of a mirror: when its source's checkpoint was verified last, and up to which entry the hub has proved its names.
ALTER TABLE "journal_heads" ADD COLUMN "mirrored_ms" BIGINT;
ALTER TABLE "journal_heads" ADD COLUMN "proved_seq" BIGINT NOT NULL DEFAULT 0;
