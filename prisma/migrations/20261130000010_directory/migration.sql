-- Lists of names and of clusters, and sums of bids by referral (src/db/registry/directory.ts, ranking.ts).

-- Names of the network that were won up to names_seq. Counted again once a minute.
ALTER TABLE "journal_heads" ADD COLUMN "names" BIGINT NOT NULL DEFAULT 0;
ALTER TABLE "journal_heads" ADD COLUMN "names_seq" BIGINT NOT NULL DEFAULT 0;

-- Derived from names and journal once a minute, and no part of the state hash.
CREATE TABLE "ranking" (
  "network" SMALLINT NOT NULL,
  "rank" INTEGER NOT NULL,
  "cluster" BIGINT NOT NULL,
  "name" TEXT COLLATE "C" NOT NULL,
  "names" BIGINT NOT NULL,
  "amount_wei" DECIMAL(78,0) NOT NULL,
  CONSTRAINT "ranking_pkey" PRIMARY KEY ("network", "rank")
);
CREATE TABLE "referrals" (
  "network" SMALLINT NOT NULL,
  "referral" BYTEA NOT NULL,
  "bids" BIGINT NOT NULL,
  "amount_wei" DECIMAL(78,0) NOT NULL,
  CONSTRAINT "referrals_pkey" PRIMARY KEY ("network", "referral")
);
