-- hashes over the first events of each feed: of every ten thousandth, and of the newest
CREATE TABLE "feed_checkpoints" (
    "network" SMALLINT NOT NULL,
    "generation" INTEGER NOT NULL,
    "count" BIGINT NOT NULL,
    "hash" BYTEA NOT NULL,
    CONSTRAINT "feed_checkpoints_pkey" PRIMARY KEY ("network", "generation", "count")
);
