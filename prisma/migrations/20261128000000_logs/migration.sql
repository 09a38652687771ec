-- The transparency log of each generation of a network's feed.
CREATE TABLE "logs" (
    "network" SMALLINT NOT NULL,
    "generation" INTEGER NOT NULL,
    "origin" TEXT NOT NULL,
    "size" BIGINT NOT NULL,
    "root" BYTEA NOT NULL,
    "note" TEXT,
    CONSTRAINT "logs_pkey" PRIMARY KEY ("network", "generation")
);
CREATE TABLE "log_tiles" (
    "network" SMALLINT NOT NULL,
    "generation" INTEGER NOT NULL,
    "level" SMALLINT NOT NULL,
    "index" BIGINT NOT NULL,
    "hashes" BYTEA NOT NULL,
    CONSTRAINT "log_tiles_pkey" PRIMARY KEY ("network", "generation", "level", "index")
);
-- hashes do not shrink
ALTER TABLE "log_tiles" ALTER COLUMN "hashes" SET STORAGE EXTERNAL;
