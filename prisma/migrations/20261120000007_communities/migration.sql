-- Communities. What one asks is the history of its configurations: their rules stand in the journal's bodies.

CREATE TABLE "communities" (
  "network" SMALLINT NOT NULL,
  "name" TEXT COLLATE "C" NOT NULL,
  "seq" BIGINT NOT NULL,
  CONSTRAINT "communities_pkey" PRIMARY KEY ("network", "name", "seq")
) PARTITION BY LIST ("network");
CREATE TABLE "communities_mainnet" PARTITION OF "communities" FOR VALUES IN (0);
CREATE TABLE "communities_testnet" PARTITION OF "communities" FOR VALUES IN (1);

-- Names below communities. Each belongs to a wallet, whatever cluster that is in; "assigned" is the cluster that got it by a claim.
CREATE TABLE "community_names" (
  "network" SMALLINT NOT NULL,
  "community" TEXT COLLATE "C" NOT NULL,
  "name" TEXT COLLATE "C" NOT NULL,
  "address" BYTEA NOT NULL,
  -- the owner had a hand in it: false where an owner of the community registered it for somebody else
  "verified" BOOLEAN NOT NULL,
  "assigned" BIGINT,
  "seq" BIGINT NOT NULL,
  CONSTRAINT "community_names_pkey" PRIMARY KEY ("network", "community", "name")
) PARTITION BY LIST ("network");
CREATE INDEX "community_names_network_address_seq_idx" ON "community_names" ("network", "address", "seq");
-- once a bundle and community
CREATE UNIQUE INDEX "community_names_assigned_key" ON "community_names" ("network", "community", "assigned") WHERE "assigned" IS NOT NULL;
CREATE TABLE "community_names_mainnet" PARTITION OF "community_names" FOR VALUES IN (0);
CREATE TABLE "community_names_testnet" PARTITION OF "community_names" FOR VALUES IN (1);

-- Payments for names below communities, as the chains show them: facts, no state. Each becomes an entry of the journal once it is
-- confirmed and what is needed to judge it has been read.
CREATE TABLE "community_payments" (
  "network" SMALLINT NOT NULL,
  "chain" SMALLINT NOT NULL,
  -- EVM: the contract's id of the payment; Solana: hash of genesis, program and sequence
  "payment_id" BYTEA NOT NULL,
  "tx" BYTEA NOT NULL,
  "block" BIGINT NOT NULL,
  "block_hash" BYTEA,
  -- its place in the journal beside chain and block: EVM the log's index, Solana the program's count of payments
  "log_index" INTEGER NOT NULL,
  "payer" BYTEA NOT NULL,
  "token" TEXT NOT NULL,
  "amount" DECIMAL(78,0) NOT NULL,
  "recipient" TEXT NOT NULL,
  "community_word" BYTEA NOT NULL,
  "name_word" BYTEA NOT NULL,
  "community" TEXT COLLATE "C",
  "name" TEXT COLLATE "C",
  "referral" BYTEA,
  "paid_ms" BIGINT NOT NULL,
  "held_until_ms" BIGINT NOT NULL,
  "confirmed" BOOLEAN NOT NULL,
  "appended" BOOLEAN NOT NULL DEFAULT false,
  CONSTRAINT "community_payments_pkey" PRIMARY KEY ("network", "chain", "payment_id"),
  CONSTRAINT "community_payments_appended_check" CHECK (NOT "appended" OR "confirmed")
);
CREATE INDEX "community_payments_network_tx_idx" ON "community_payments" ("network", "tx");
-- what is seen and not believed yet, dropped and written anew as it comes and goes
CREATE INDEX "community_payments_unconfirmed_idx" ON "community_payments" ("network", "chain", "block") WHERE NOT "confirmed";
-- what is believed and waits to be judged
CREATE INDEX "community_payments_open_idx" ON "community_payments" ("network", "paid_ms") WHERE "confirmed" AND NOT "appended";
-- names that a payment under way may get
CREATE INDEX "community_payments_pending_idx" ON "community_payments" ("network", "community", "name") WHERE NOT "appended";
