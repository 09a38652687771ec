-- The row budget: a registration is at most four rows (journal, names, clusters, wallets) and twelve B-tree entries, plus
-- a BRIN. These four are LIST-partitioned by network, so that COPY goes to a leaf and a network is a partition of its own.

CREATE TABLE "deployment" (
  "id" INTEGER NOT NULL DEFAULT 1,
  "page_key" BYTEA NOT NULL,
  CONSTRAINT "deployment_pkey" PRIMARY KEY ("id"),
  CONSTRAINT "deployment_one_row" CHECK ("id" = 1)
);

CREATE TABLE "chains" (
  "network" SMALLINT NOT NULL,
  "chain" SMALLINT NOT NULL,
  "label" TEXT NOT NULL,
  "instance" TEXT NOT NULL,
  "chain_id" BIGINT,
  "genesis_hash" BYTEA NOT NULL,
  "contract" BYTEA NOT NULL,
  "next_block" BIGINT NOT NULL,
  "parent_hash" BYTEA,
  "halted" TEXT,
  CONSTRAINT "chains_pkey" PRIMARY KEY ("network", "chain")
);
CREATE UNIQUE INDEX "chains_network_label_instance_key" ON "chains" ("network", "label", "instance");

CREATE TABLE "journal_heads" (
  "network" SMALLINT NOT NULL,
  "generation" INTEGER NOT NULL,
  "seq" BIGINT NOT NULL,
  "public_seq" BIGINT NOT NULL,
  "at_ms" BIGINT NOT NULL,
  "serial" BIGINT NOT NULL,
  "minimum_wei" DECIMAL(78,0) NOT NULL,
  "index_epoch" BIGINT NOT NULL DEFAULT 0,
  "relay_epoch" BIGINT NOT NULL DEFAULT 0,
  "caught_up" BOOLEAN NOT NULL DEFAULT false,
  CONSTRAINT "journal_heads_pkey" PRIMARY KEY ("network")
);

CREATE TABLE "journal" (
  "network" SMALLINT NOT NULL,
  "generation" INTEGER NOT NULL,
  "seq" BIGINT NOT NULL,
  "kind" SMALLINT NOT NULL,
  "chain" SMALLINT,
  "block" BIGINT,
  "log_index" INTEGER,
  "tx_key" BIGINT,
  "at_ms" BIGINT NOT NULL,
  "public_first" BIGINT NOT NULL,
  "public_count" INTEGER NOT NULL,
  "actor" BYTEA,
  "body" BYTEA NOT NULL,
  "effects" BYTEA NOT NULL,
  CONSTRAINT "journal_pkey" PRIMARY KEY ("network", "generation", "seq")
) PARTITION BY LIST ("network");
CREATE INDEX "journal_network_generation_actor_seq_idx" ON "journal" ("network", "generation", "actor", "seq");
CREATE INDEX "journal_network_generation_public_first_idx" ON "journal" ("network", "generation", "public_first");
-- timestamps never fall, so a block range index finds a time at almost no cost to a write
CREATE INDEX "journal_at_ms_brin" ON "journal" USING brin ("at_ms");
-- a log enters the journal once: a duplicate is a bug and aborts its transaction
CREATE UNIQUE INDEX "journal_position_key" ON "journal" ("network", "generation", "chain", "block", "log_index") WHERE "chain" IS NOT NULL;
CREATE TABLE "journal_mainnet" PARTITION OF "journal" FOR VALUES IN (0);
CREATE TABLE "journal_testnet" PARTITION OF "journal" FOR VALUES IN (1);

CREATE TABLE "names" (
  "network" SMALLINT NOT NULL,
  "seq" BIGINT NOT NULL,
  "tx_key" BIGINT,
  "name" TEXT COLLATE "C",
  "cluster" BIGINT,
  "outcome" SMALLINT NOT NULL,
  "updated_seq" BIGINT NOT NULL,
  CONSTRAINT "names_pkey" PRIMARY KEY ("network", "seq")
) PARTITION BY LIST ("network");
CREATE INDEX "names_network_tx_key_idx" ON "names" ("network", "tx_key");
CREATE UNIQUE INDEX "names_won_key" ON "names" ("network", "name") WHERE "outcome" = 1;
CREATE INDEX "names_network_cluster_seq_idx" ON "names" ("network", "cluster", "seq");
CREATE TABLE "names_mainnet" PARTITION OF "names" FOR VALUES IN (0);
CREATE TABLE "names_testnet" PARTITION OF "names" FOR VALUES IN (1);

CREATE TABLE "clusters" (
  "network" SMALLINT NOT NULL,
  "serial" BIGINT NOT NULL,
  "id" BYTEA NOT NULL,
  "created_seq" BIGINT NOT NULL,
  CONSTRAINT "clusters_pkey" PRIMARY KEY ("network", "serial")
) PARTITION BY LIST ("network");
CREATE UNIQUE INDEX "clusters_network_id_key" ON "clusters" ("network", "id");
CREATE TABLE "clusters_mainnet" PARTITION OF "clusters" FOR VALUES IN (0);
CREATE TABLE "clusters_testnet" PARTITION OF "clusters" FOR VALUES IN (1);

CREATE TABLE "wallets" (
  "network" SMALLINT NOT NULL,
  "cluster" BIGINT NOT NULL,
  "address" BYTEA NOT NULL,
  "name" TEXT COLLATE "C" NOT NULL,
  "verified" BOOLEAN NOT NULL,
  "private" BOOLEAN NOT NULL,
  "backed_up" BOOLEAN NOT NULL,
  "created_seq" BIGINT NOT NULL,
  "updated_seq" BIGINT NOT NULL,
  CONSTRAINT "wallets_pkey" PRIMARY KEY ("network", "cluster", "address")
) PARTITION BY LIST ("network");
-- a verified wallet belongs to at most one cluster
CREATE UNIQUE INDEX "wallets_verified_key" ON "wallets" ("network", "address") WHERE "verified";
-- look-ups of unverified mentions; costs a registration nothing
CREATE INDEX "wallets_unverified_idx" ON "wallets" ("network", "address") WHERE NOT "verified";
CREATE TABLE "wallets_mainnet" PARTITION OF "wallets" FOR VALUES IN (0);
CREATE TABLE "wallets_testnet" PARTITION OF "wallets" FOR VALUES IN (1);

CREATE TABLE "facts" (
  "network" SMALLINT NOT NULL,
  "chain" SMALLINT NOT NULL,
  "block_hash" BYTEA NOT NULL,
  "log_index" INTEGER NOT NULL,
  "block" BIGINT NOT NULL,
  "kind" SMALLINT NOT NULL,
  "tx_hash" BYTEA NOT NULL,
  "name" TEXT COLLATE "C",
  "cause_ms" BIGINT NOT NULL,
  "body" BYTEA NOT NULL,
  CONSTRAINT "facts_pkey" PRIMARY KEY ("network", "chain", "block_hash", "log_index")
);
CREATE INDEX "facts_network_tx_hash_idx" ON "facts" ("network", "tx_hash");
CREATE INDEX "facts_network_name_idx" ON "facts" ("network", "name");

CREATE TABLE "tail_blocks" (
  "network" SMALLINT NOT NULL,
  "chain" SMALLINT NOT NULL,
  "block" BIGINT NOT NULL,
  "hash" BYTEA NOT NULL,
  "parent_hash" BYTEA NOT NULL,
  "timestamp_ms" BIGINT NOT NULL,
  CONSTRAINT "tail_blocks_pkey" PRIMARY KEY ("network", "chain", "block")
);

CREATE TABLE "tracked_txs" (
  "network" SMALLINT NOT NULL,
  "hash" BYTEA NOT NULL,
  "chain" SMALLINT NOT NULL,
  "sender" BYTEA,
  "nonce" BIGINT,
  "first_seen_ms" BIGINT NOT NULL,
  "last_seen_ms" BIGINT NOT NULL,
  "verdict" TEXT,
  "replaced_by" BYTEA,
  CONSTRAINT "tracked_txs_pkey" PRIMARY KEY ("network", "hash")
);

INSERT INTO "deployment" ("id", "page_key") VALUES (1, uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()));
INSERT INTO "journal_heads" ("network", "generation", "seq", "public_seq", "at_ms", "serial", "minimum_wei")
VALUES (0, 1, 0, 0, 0, 0, 0), (1, 1, 0, 0, 0, 0, 0);
