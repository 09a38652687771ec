-- Partitions of the journal that a file has as well (src/db/journal/archive); of dropped ones the table keeps what
-- look-ups need.
CREATE TABLE "archives" (
    "network" SMALLINT NOT NULL,
    "generation" INTEGER NOT NULL,
    "seq_first" BIGINT NOT NULL,
    "seq_last" BIGINT NOT NULL,
    "event_first" BIGINT NOT NULL,
    "event_last" BIGINT NOT NULL,
    "last_ms" BIGINT NOT NULL,
    "file" TEXT NOT NULL,
    "file_hash" BYTEA NOT NULL,
    "index_hash" BYTEA NOT NULL,
    "bytes" BIGINT NOT NULL,
    "written_ms" BIGINT NOT NULL,
    "dropped_ms" BIGINT,
    CONSTRAINT "archives_pkey" PRIMARY KEY ("network", "generation", "seq_first")
);
