ALTER TABLE "journal_heads" ADD COLUMN "proved_block" BIGINT;
