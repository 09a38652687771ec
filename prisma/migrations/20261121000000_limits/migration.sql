-- the newest payment of a token on a chain, before which a jump of its numbers is looked for
CREATE INDEX IF NOT EXISTS "payments_newest_idx" ON "payments" ("network", "chain", "token", "block", "sequence")
  WHERE "kind" = 2 AND "state" >= 1;

-- signing date of the newest signature that asked for a generated wallet's key: each serves once
ALTER TABLE "wallet_shares" ADD COLUMN IF NOT EXISTS "recovered_ms" BIGINT;

-- buckets of the limits that all processes share; unlogged, since a crash may forgive what was spent
CREATE UNLOGGED TABLE "limit_buckets" (
    "bucket" TEXT COLLATE "C" NOT NULL,
    "full_ms" DOUBLE PRECISION NOT NULL,
    CONSTRAINT "limit_buckets_pkey" PRIMARY KEY ("bucket")
);
CREATE INDEX "limit_buckets_full_ms_idx" ON "limit_buckets" ("full_ms");

-- keys that raise the limit of requests; an operator's belongs to no wallet
CREATE TABLE "api_keys" (
    "key_hash" BYTEA NOT NULL,
    "wallet" BYTEA,
    "slot" SMALLINT,
    "name" TEXT NOT NULL,
    "per_second" INTEGER,
    "burst" INTEGER,
    "created_ms" BIGINT NOT NULL,
    CONSTRAINT "api_keys_pkey" PRIMARY KEY ("key_hash")
);
CREATE UNIQUE INDEX "api_keys_wallet_slot_key" ON "api_keys" ("wallet", "slot");

-- Public answers read public rows alone, so that their time says nothing of private ones: the feed goes by numbers of
-- events, wallets are found by address and by cluster among the public ones.
CREATE INDEX IF NOT EXISTS "journal_public_idx" ON "journal" ("network", "generation", "public_first") WHERE "public_count" > 0;
CREATE INDEX IF NOT EXISTS "journal_public_actor_idx" ON "journal" ("network", "generation", "actor", "public_first") WHERE "public_count" > 0;
DROP INDEX "journal_network_generation_public_first_idx";
DROP INDEX "journal_network_generation_actor_seq_idx";
-- the feed finds a time by its numbers
DROP INDEX "journal_at_ms_brin";
-- the verified entry of an address, else its oldest mention, which strangers may make any number of times
CREATE INDEX IF NOT EXISTS "wallets_public_address_idx" ON "wallets" ("network", "address", "verified" DESC, "created_seq", "cluster") WHERE NOT "private";
DROP INDEX "wallets_mention_idx";
CREATE INDEX IF NOT EXISTS "wallets_public_cluster_idx" ON "wallets" ("network", "cluster", "name") WHERE NOT "private";
