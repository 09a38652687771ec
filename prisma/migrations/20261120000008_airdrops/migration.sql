-- Airdrops: who gets what of a token, as an operator loaded it, the pages of its tree, and what was claimed on chain. None is state
-- of the registry: it outlives a rewind.

CREATE TABLE "airdrops" (
  "network" SMALLINT NOT NULL,
  "airdrop" SERIAL NOT NULL,
  "community" TEXT COLLATE "C" NOT NULL,
  "label" TEXT NOT NULL,
  "merkle_root" BYTEA NOT NULL,
  "file_hash" BYTEA NOT NULL,
  "leaf_count" INTEGER NOT NULL,
  "total" DECIMAL(78,0) NOT NULL,
  "token" BYTEA,
  "distributor" BYTEA,
  "ends_at" BIGINT,
  "from_block" BIGINT,
  "next_block" BIGINT,
  "parent_hash" BYTEA,
  "state" SMALLINT NOT NULL,
  "created_ms" BIGINT NOT NULL,
  CONSTRAINT "airdrops_pkey" PRIMARY KEY ("network", "airdrop"),
  -- a distributor (open 1, ended 2) comes with all that is needed to watch it; without one there is nothing to watch (loaded 0)
  CONSTRAINT "airdrops_state_check" CHECK (
    ("state" = 0 AND "distributor" IS NULL AND "next_block" IS NULL) OR
    ("state" IN (1, 2) AND "distributor" IS NOT NULL AND "token" IS NOT NULL AND "ends_at" IS NOT NULL
      AND "from_block" IS NOT NULL AND "next_block" IS NOT NULL))
);
CREATE UNIQUE INDEX "airdrops_network_community_key" ON "airdrops" ("network", "community");

-- Looked up by account alone, and laid down in that order; an account stands in a file once.
CREATE TABLE "airdrop_allocations" (
  "network" SMALLINT NOT NULL,
  "airdrop" INTEGER NOT NULL,
  "account" BYTEA NOT NULL,
  "index" INTEGER NOT NULL,
  "position" INTEGER NOT NULL,
  "amount" DECIMAL(78,0) NOT NULL,
  CONSTRAINT "airdrop_allocations_pkey" PRIMARY KEY ("network", "airdrop", "account")
);

-- 1,984 bytes of hashes a full page: with these columns before it a row just stays below what PostgreSQL moves out of line.
CREATE TABLE "airdrop_pages" (
  "network" SMALLINT NOT NULL,
  "airdrop" INTEGER NOT NULL,
  "page" INTEGER NOT NULL,
  "nodes" BYTEA NOT NULL,
  CONSTRAINT "airdrop_pages_pkey" PRIMARY KEY ("network", "airdrop", "page")
);

CREATE TABLE "airdrop_claims" (
  "network" SMALLINT NOT NULL,
  "airdrop" INTEGER NOT NULL,
  "index" INTEGER NOT NULL,
  "receiver" BYTEA NOT NULL,
  "block" BIGINT NOT NULL,
  "block_hash" BYTEA NOT NULL,
  "log_index" INTEGER NOT NULL,
  "tx_hash" BYTEA NOT NULL,
  "confirmed" BOOLEAN NOT NULL,
  CONSTRAINT "airdrop_claims_pkey" PRIMARY KEY ("network", "airdrop", "index")
);
-- claims of a range of blocks, which is read again after a reorg
CREATE INDEX "airdrop_claims_network_airdrop_block_idx" ON "airdrop_claims" ("network", "airdrop", "block");
