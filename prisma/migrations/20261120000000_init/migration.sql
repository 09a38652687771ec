-- The row budget: a registration is at most four rows (journal, names, clusters, wallets) and twelve B-tree entries,
-- plus a BRIN. These four are LIST-partitioned by network, so that COPY goes to a leaf and a network is a partition of
-- its own.

CREATE TABLE "deployment" (
  "id" INTEGER NOT NULL DEFAULT 1,
  "page_key" BYTEA NOT NULL,
  -- signs this installation's quotes, where the environment names no key
  "quote_key" BYTEA NOT NULL,
  "token_key" BYTEA NOT NULL,
  CONSTRAINT "deployment_pkey" PRIMARY KEY ("id"),
  CONSTRAINT "deployment_one_row" CHECK ("id" = 1)
);

CREATE TABLE "chains" (
  "network" SMALLINT NOT NULL,
  "chain" SMALLINT NOT NULL,
  "label" TEXT NOT NULL,
  "instance" TEXT NOT NULL,
  "chain_id" BIGINT,
  "genesis_hash" BYTEA,
  "contract" BYTEA NOT NULL,
  -- the contract that takes payments for community names, which may change while none of its payments is open
  "community_payments" BYTEA,
  "next_block" BIGINT NOT NULL,
  "parent_hash" BYTEA,
  "halted" TEXT,
  CONSTRAINT "chains_pkey" PRIMARY KEY ("network", "chain")
);
CREATE UNIQUE INDEX "chains_network_label_instance_key" ON "chains" ("network", "label", "instance");

CREATE TABLE "chain_states" (
  "network" SMALLINT NOT NULL,
  "label" TEXT NOT NULL,
  "state" JSONB NOT NULL,
  "seen_ms" BIGINT NOT NULL,
  CONSTRAINT "chain_states_pkey" PRIMARY KEY ("network", "label")
);

CREATE TABLE "journal_heads" (
  "network" SMALLINT NOT NULL,
  "generation" INTEGER NOT NULL,
  -- in page tokens and event ids: raised by each generation, and after the database went back in time
  "feed_generation" INTEGER NOT NULL DEFAULT 1,
  "seq" BIGINT NOT NULL,
  "public_seq" BIGINT NOT NULL,
  "at_ms" BIGINT NOT NULL,
  "serial" BIGINT NOT NULL,
  "minimum_wei" DECIMAL(78,0) NOT NULL,
  "caught_up" BOOLEAN NOT NULL DEFAULT false,
  CONSTRAINT "journal_heads_pkey" PRIMARY KEY ("network")
);

-- rows of their own: what a leader locks to be the leader keeps nobody from the journal's head
CREATE TABLE "leaders" (
  "network" SMALLINT NOT NULL,
  "role" SMALLINT NOT NULL,
  "epoch" BIGINT NOT NULL,
  CONSTRAINT "leaders_pkey" PRIMARY KEY ("network", "role")
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
  "ruleset" SMALLINT NOT NULL,
  CONSTRAINT "journal_pkey" PRIMARY KEY ("network", "generation", "seq")
) PARTITION BY LIST ("network");
CREATE INDEX "journal_network_generation_actor_seq_idx" ON "journal" ("network", "generation", "actor", "seq");
CREATE INDEX "journal_network_generation_public_first_idx" ON "journal" ("network", "generation", "public_first");
-- timestamps never fall, so a block range index finds a time at almost no cost to a write
CREATE INDEX "journal_at_ms_brin" ON "journal" USING brin ("at_ms");
-- Each network's leaf is cut by sequence, so that an index never outgrows memory and old entries can be moved away. The
-- indexer makes a cut before the journal gets there (src/db/journal/partitions.ts).
CREATE TABLE "journal_mainnet" PARTITION OF "journal" FOR VALUES IN (0) PARTITION BY RANGE ("seq");
CREATE TABLE "journal_mainnet_0" PARTITION OF "journal_mainnet" FOR VALUES FROM (0) TO (10000000);
CREATE TABLE "journal_mainnet_1" PARTITION OF "journal_mainnet" FOR VALUES FROM (10000000) TO (20000000);
CREATE TABLE "journal_testnet" PARTITION OF "journal" FOR VALUES IN (1) PARTITION BY RANGE ("seq");
CREATE TABLE "journal_testnet_0" PARTITION OF "journal_testnet" FOR VALUES FROM (0) TO (10000000);
CREATE TABLE "journal_testnet_1" PARTITION OF "journal_testnet" FOR VALUES FROM (10000000) TO (20000000);
-- A log enters the journal once: a duplicate is a bug and aborts its transaction. An index over all cuts would need the
-- sequence among its columns, so each cut has its own; across cuts the checkpoint's compare-and-set is the guard.
CREATE UNIQUE INDEX "journal_mainnet_0_position_key" ON "journal_mainnet_0" ("network", "generation", "chain", "block", "log_index") WHERE "chain" IS NOT NULL;
CREATE UNIQUE INDEX "journal_mainnet_1_position_key" ON "journal_mainnet_1" ("network", "generation", "chain", "block", "log_index") WHERE "chain" IS NOT NULL;
CREATE UNIQUE INDEX "journal_testnet_0_position_key" ON "journal_testnet_0" ("network", "generation", "chain", "block", "log_index") WHERE "chain" IS NOT NULL;
CREATE UNIQUE INDEX "journal_testnet_1_position_key" ON "journal_testnet_1" ("network", "generation", "chain", "block", "log_index") WHERE "chain" IS NOT NULL;

CREATE TABLE "names" (
  "network" SMALLINT NOT NULL,
  "seq" BIGINT NOT NULL,
  "tx_key" BIGINT,
  "name" TEXT COLLATE "C",
  "cluster" BIGINT,
  "outcome" SMALLINT NOT NULL,
  -- others may register names below it; derived, stands in the padding before the next column
  "community" BOOLEAN NOT NULL DEFAULT false,
  "updated_seq" BIGINT NOT NULL,
  CONSTRAINT "names_pkey" PRIMARY KEY ("network", "seq")
) PARTITION BY LIST ("network");
CREATE INDEX "names_network_tx_key_idx" ON "names" ("network", "tx_key");
CREATE UNIQUE INDEX "names_won_key" ON "names" ("network", "name") WHERE "outcome" = 1;
CREATE INDEX "names_network_cluster_seq_idx" ON "names" ("network", "cluster", "seq");
-- the few communities of a cluster, whose names share a namespace with its wallets
CREATE INDEX "names_community_idx" ON "names" ("network", "cluster") WHERE "community";
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
-- the oldest public mention of an address, which strangers may mention any number of times; a registration writes none
CREATE INDEX "wallets_mention_idx" ON "wallets" ("network", "address", "created_seq", "cluster") WHERE NOT "verified" AND NOT "private";
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
-- transactions that came to nothing, forgotten in time
CREATE INDEX "tracked_txs_open_idx" ON "tracked_txs" ("network", "last_seen_ms") WHERE "verdict" IS NULL AND "replaced_by" IS NULL;

-- Configurations of communities; the bodies of their journal entries hold the rules.

CREATE TABLE "communities" (
  "network" SMALLINT NOT NULL,
  "name" TEXT COLLATE "C" NOT NULL,
  "seq" BIGINT NOT NULL,
  CONSTRAINT "communities_pkey" PRIMARY KEY ("network", "name", "seq")
) PARTITION BY LIST ("network");
CREATE TABLE "communities_mainnet" PARTITION OF "communities" FOR VALUES IN (0);
CREATE TABLE "communities_testnet" PARTITION OF "communities" FOR VALUES IN (1);

-- Names below communities. Each belongs to a wallet, whatever cluster that is in; "assigned" is the cluster that got
-- the name by a claim.
CREATE TABLE "community_names" (
  "network" SMALLINT NOT NULL,
  "community" TEXT COLLATE "C" NOT NULL,
  "name" TEXT COLLATE "C" NOT NULL,
  "address" BYTEA NOT NULL,
  -- the owner took part; false where an owner of the community registered the name for somebody else
  "verified" BOOLEAN NOT NULL,
  "assigned" BIGINT,
  "seq" BIGINT NOT NULL,
  CONSTRAINT "community_names_pkey" PRIMARY KEY ("network", "community", "name")
) PARTITION BY LIST ("network");
CREATE INDEX "community_names_network_address_seq_idx" ON "community_names" ("network", "address", "seq");
-- one assigned name per bundle and community
CREATE UNIQUE INDEX "community_names_assigned_key" ON "community_names" ("network", "community", "assigned") WHERE "assigned" IS NOT NULL;
CREATE TABLE "community_names_mainnet" PARTITION OF "community_names" FOR VALUES IN (0);
CREATE TABLE "community_names_testnet" PARTITION OF "community_names" FOR VALUES IN (1);

-- Messages over the bridge that spokes sent and the hub received. They serve status and the relayer; none is state.

CREATE TABLE "messages" (
  "network" SMALLINT NOT NULL,
  "guid" BYTEA NOT NULL,
  "chain" SMALLINT NOT NULL,
  "block" BIGINT NOT NULL,
  "block_hash" BYTEA NOT NULL,
  "log_index" INTEGER NOT NULL,
  "tx_hash" BYTEA NOT NULL,
  "sender" BYTEA NOT NULL,
  "sent_ms" BIGINT NOT NULL,
  "packet" BYTEA NOT NULL,
  "options" BYTEA NOT NULL,
  "confirmed" BOOLEAN NOT NULL,
  "settled" BOOLEAN NOT NULL DEFAULT false,
  CONSTRAINT "messages_pkey" PRIMARY KEY ("network", "guid")
);
CREATE INDEX "messages_network_tx_hash_idx" ON "messages" ("network", "tx_hash");
-- the tail of a spoke, dropped and written anew as its blocks come and go
CREATE INDEX "messages_unconfirmed_idx" ON "messages" ("network", "chain", "block") WHERE NOT "confirmed";
-- the newest message of a spoke, where its count goes on
CREATE INDEX "messages_confirmed_idx" ON "messages" ("network", "chain", "block", "log_index") WHERE "confirmed";
-- the few messages that the hub has not received in a confirmed block, which the relayer looks at
CREATE INDEX "messages_open_idx" ON "messages" ("network", "sent_ms", "chain", "block", "log_index") WHERE "confirmed" AND NOT "settled";

CREATE TABLE "received" (
  "network" SMALLINT NOT NULL,
  "guid" BYTEA NOT NULL,
  "tx_hash" BYTEA NOT NULL,
  "block" BIGINT NOT NULL,
  "log_index" INTEGER NOT NULL,
  "bids" INTEGER NOT NULL,
  "confirmed" BOOLEAN NOT NULL,
  CONSTRAINT "received_pkey" PRIMARY KEY ("network", "guid")
);
CREATE INDEX "received_unconfirmed_idx" ON "received" ("network", "block") WHERE NOT "confirmed";

-- What the hub owes to bidders: what it credited for lost and refused bids, and what it paid out, negative.
CREATE TABLE "hub_credits" (
  "network" SMALLINT NOT NULL,
  "block" BIGINT NOT NULL,
  "log_index" INTEGER NOT NULL,
  "tx_hash" BYTEA NOT NULL,
  "wallet" BYTEA NOT NULL,
  "eid" BIGINT NOT NULL,
  "amount_wei" DECIMAL(78,0) NOT NULL,
  CONSTRAINT "hub_credits_pkey" PRIMARY KEY ("network", "block", "log_index")
);
CREATE INDEX "hub_credits_network_wallet_idx" ON "hub_credits" ("network", "wallet");
CREATE INDEX "hub_credits_network_tx_hash_idx" ON "hub_credits" ("network", "tx_hash");

-- Transactions that the relayer owes, and the nonces of its signers. Jobs are no state of the registry and belong to no
-- generation: a message that was delivered stays delivered, money that was refunded stays refunded.

CREATE TABLE "jobs" (
  "network" SMALLINT NOT NULL,
  "id" BIGSERIAL NOT NULL,
  "kind" SMALLINT NOT NULL,
  "chain" SMALLINT NOT NULL,
  "subject" BYTEA,
  "state" SMALLINT NOT NULL DEFAULT 0,
  "txs" JSONB NOT NULL DEFAULT '[]',
  "failures" INTEGER NOT NULL DEFAULT 0,
  "next_ms" BIGINT NOT NULL DEFAULT 0,
  "reason" TEXT,
  "release" TEXT,
  "alone" BOOLEAN NOT NULL DEFAULT false,
  "batch" BIGINT,
  "signer" BYTEA,
  "nonce" BIGINT,
  "value_wei" DECIMAL(78,0) NOT NULL DEFAULT 0,
  "spent_wei" DECIMAL(78,0) NOT NULL DEFAULT 0,
  "included" JSONB,
  "created_ms" BIGINT NOT NULL,
  "updated_ms" BIGINT NOT NULL,
  "version" INTEGER NOT NULL DEFAULT 0,
  CONSTRAINT "jobs_pkey" PRIMARY KEY ("network", "id"),
  -- a nonce is taken together with signed bytes
  CONSTRAINT "jobs_nonce_check" CHECK ("nonce" IS NULL OR ("signer" IS NOT NULL AND jsonb_array_length("txs") > 0)),
  -- signed (1) and sent (2) jobs hold the bytes that may be under way, unless they go with another
  CONSTRAINT "jobs_signed_check" CHECK ("state" NOT IN (1, 2) OR "batch" IS NOT NULL OR jsonb_array_length("txs") > 0)
);
-- a message is verified once and executed once, a payment delivered once
CREATE UNIQUE INDEX "jobs_network_subject_kind_key" ON "jobs" ("network", "subject", "kind");
-- a payment is settled (6) or refunded (7), never both
CREATE UNIQUE INDEX "jobs_payout_key" ON "jobs" ("network", "subject") WHERE "kind" IN (6, 7);
-- a signer's nonce belongs to one job
CREATE UNIQUE INDEX "jobs_nonce_key" ON "jobs" ("network", "chain", "signer", "nonce") WHERE "nonce" IS NOT NULL;
-- jobs under way: queued 0, signed 1, sent 2, included 3 (confirmed is 4)
CREATE INDEX "jobs_live_idx" ON "jobs" ("network", "chain", "next_ms") WHERE "state" < 4;
-- what a signer has spent lately
CREATE INDEX "jobs_ended_idx" ON "jobs" ("network", "chain", "updated_ms") WHERE "state" = 4;
-- ended jobs whose signed bytes are kept, forgotten in time
CREATE INDEX "jobs_raw_idx" ON "jobs" ("network", "updated_ms") WHERE "state" = 4 AND jsonb_path_exists("txs", '$[*] ? (@.raw != "")');
-- jobs whose work another's transaction does
CREATE INDEX "jobs_batch_idx" ON "jobs" ("network", "batch") WHERE "batch" IS NOT NULL;
-- jobs that wait for an operator
CREATE INDEX "jobs_parked_idx" ON "jobs" ("network", "id") WHERE "state" = 5;

CREATE TABLE "relay_signers" (
  "network" SMALLINT NOT NULL,
  "chain" SMALLINT NOT NULL,
  "signer" BYTEA NOT NULL,
  "next_nonce" BIGINT NOT NULL,
  -- the chain's count where an operator has to confirm it
  "claimed_nonce" BIGINT,
  -- what was signed for on a day (UTC, days since 1970), at most: a daily cap bounds it
  "spent_day" INTEGER NOT NULL DEFAULT 0,
  "spent_wei" DECIMAL(78,0) NOT NULL DEFAULT 0,
  CONSTRAINT "relay_signers_pkey" PRIMARY KEY ("network", "chain", "signer")
);

-- Payments as the chains show them: for names on the hub (kind 1, Solana alone) and for names below communities (kind
-- 2, any chain). Payments are facts, no state of the registry: they serve status, the relayer and refunds.
CREATE TABLE "payments" (
  "network" SMALLINT NOT NULL,
  "id" BYTEA NOT NULL,
  "kind" SMALLINT NOT NULL,
  "chain" SMALLINT NOT NULL,
  -- seen 0, confirmed 1, done 2
  "state" SMALLINT NOT NULL,
  "tx" BYTEA NOT NULL,
  "block" BIGINT NOT NULL,
  "block_hash" BYTEA,
  "sequence" BIGINT NOT NULL,
  "payer" BYTEA NOT NULL,
  "token" TEXT NOT NULL,
  "amount" DECIMAL(78,0) NOT NULL,
  "name_word" BYTEA NOT NULL,
  "name" TEXT COLLATE "C",
  "referral" BYTEA,
  "paid_ms" BIGINT NOT NULL,
  "source" BYTEA,
  "quote_id" BYTEA,
  "amount_wei" DECIMAL(78,0),
  "expires_at" BIGINT,
  "verdict" SMALLINT,
  "community_word" BYTEA,
  "community" TEXT COLLATE "C",
  "recipient" TEXT,
  -- number and time that the payment's chain gave it
  "number" DECIMAL(20,0),
  "reclaimable_ms" BIGINT,
  -- refused 1, released 2, reclaimed 3; null while held
  "outcome" SMALLINT,
  "outcome_block" BIGINT,
  CONSTRAINT "payments_pkey" PRIMARY KEY ("network", "id"),
  CONSTRAINT "payments_kind_check" CHECK (
    ("kind" = 1 AND "source" IS NOT NULL AND "quote_id" IS NOT NULL AND "amount_wei" IS NOT NULL AND "expires_at" IS NOT NULL AND "verdict" IS NOT NULL AND "reclaimable_ms" IS NOT NULL) OR
    ("kind" = 2 AND "community_word" IS NOT NULL AND "recipient" IS NOT NULL AND "number" IS NOT NULL))
);
CREATE INDEX "payments_network_tx_idx" ON "payments" ("network", "tx");
CREATE INDEX "payments_network_payer_outcome_reclaimable_ms_idx" ON "payments" ("network", "payer", "outcome", "reclaimable_ms");
-- the tokens of a payer, found one by one
CREATE INDEX "payments_paid_idx" ON "payments" ("network", "payer", "chain", "token") WHERE "kind" = 2;
-- unconfirmed payments, dropped and written anew as they come and go
CREATE INDEX "payments_seen_idx" ON "payments" ("network", "chain", "block") WHERE "state" = 0;
-- the few payments that wait to be delivered, settled, refunded or judged
CREATE INDEX "payments_open_idx" ON "payments" ("network", "kind", "paid_ms") WHERE "state" = 1;
-- payments for community names that nobody is known to have decided
CREATE INDEX "payments_held_idx" ON "payments" ("network", "chain", "paid_ms") WHERE "kind" = 2 AND "state" = 2 AND "outcome" IS NULL;
-- payments for community names in the order of their program's count
CREATE INDEX "payments_sequence_idx" ON "payments" ("network", "chain", "sequence") WHERE "kind" = 2 AND "block_hash" IS NULL;
-- community names that a payment under way may get
CREATE INDEX "payments_pending_idx" ON "payments" ("network", "community", "name") WHERE "kind" = 2 AND "state" < 2;

-- Progress of a Solana program's watcher: the newest confirmed transaction, and the sequences up to which every payment
-- for a name on the hub, and every one for a community name, is known.
CREATE TABLE "payment_cursors" (
  "network" SMALLINT NOT NULL,
  "chain" SMALLINT NOT NULL,
  "signature" BYTEA,
  "slot" BIGINT NOT NULL,
  "sequence" BIGINT NOT NULL,
  "community_sequence" BIGINT NOT NULL,
  CONSTRAINT "payment_cursors_pkey" PRIMARY KEY ("network", "chain")
);

-- Sessions of signed-in wallets. A session is no state of the registry and belongs to no network.

CREATE TABLE "sessions" (
  "key_hash" BYTEA NOT NULL,
  "wallet" BYTEA NOT NULL,
  "signing_ms" BIGINT NOT NULL,
  "signature" TEXT NOT NULL,
  "created_ms" BIGINT NOT NULL,
  "expires_ms" BIGINT NOT NULL,
  "revoked_ms" BIGINT,
  CONSTRAINT "sessions_pkey" PRIMARY KEY ("key_hash")
);
-- keyed by the signed message, since a signature has several forms
CREATE UNIQUE INDEX "sessions_wallet_signing_ms_key" ON "sessions" ("wallet", "signing_ms");
-- for sweeping
CREATE INDEX "sessions_expires_ms_idx" ON "sessions" ("expires_ms");

-- Encrypted shares of generated wallets. Shares are no state of the registry and outlive a rewind.

CREATE TABLE "wallet_shares" (
  "network" SMALLINT NOT NULL,
  "address" BYTEA NOT NULL,
  "cluster_id" BYTEA NOT NULL,
  "created_by" BYTEA NOT NULL,
  "share" BYTEA NOT NULL,
  "created_ms" BIGINT NOT NULL,
  CONSTRAINT "wallet_shares_pkey" PRIMARY KEY ("network", "address")
);

-- Airdrops as operators loaded them: allocations, pages of the tree, and claims on chain. None is state of the
-- registry; all outlive a rewind.

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
  "ends_at_s" BIGINT,
  "from_block" BIGINT,
  "next_block" BIGINT,
  "parent_hash" BYTEA,
  "state" SMALLINT NOT NULL,
  "created_ms" BIGINT NOT NULL,
  CONSTRAINT "airdrops_pkey" PRIMARY KEY ("network", "airdrop"),
  -- loaded (0) without a distributor; open (1) and ended (2) with everything needed to watch one
  CONSTRAINT "airdrops_state_check" CHECK (
    ("state" = 0 AND "distributor" IS NULL AND "next_block" IS NULL) OR
    ("state" IN (1, 2) AND "distributor" IS NOT NULL AND "token" IS NOT NULL AND "ends_at_s" IS NOT NULL
      AND "from_block" IS NOT NULL AND "next_block" IS NOT NULL))
);
CREATE UNIQUE INDEX "airdrops_network_community_key" ON "airdrops" ("network", "community");

-- Looked up by account alone, and written in that order; a file names an account once.
CREATE TABLE "airdrop_allocations" (
  "network" SMALLINT NOT NULL,
  "airdrop" INTEGER NOT NULL,
  "account" BYTEA NOT NULL,
  "index" INTEGER NOT NULL,
  "position" INTEGER NOT NULL,
  "amount" DECIMAL(78,0) NOT NULL,
  CONSTRAINT "airdrop_allocations_pkey" PRIMARY KEY ("network", "airdrop", "account")
);

-- A full page has 1,984 bytes of hashes, so that a row stays just below what PostgreSQL moves out of line.
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

INSERT INTO "deployment" ("id", "page_key", "quote_key", "token_key")
SELECT 1, uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()), uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()), uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid());
INSERT INTO "journal_heads" ("network", "generation", "seq", "public_seq", "at_ms", "serial", "minimum_wei")
VALUES (0, 1, 0, 0, 0, 0, 0), (1, 1, 0, 0, 0, 0, 0);
INSERT INTO "leaders" ("network", "role", "epoch") VALUES (0, 0, 0), (0, 1, 0), (1, 0, 0), (1, 1, 0);
