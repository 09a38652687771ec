-- Messages over the bridge: what spokes sent, what the hub has taken. They serve status and the relayer; none is state.

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
  CONSTRAINT "messages_pkey" PRIMARY KEY ("network", "guid")
);
CREATE INDEX "messages_network_tx_hash_idx" ON "messages" ("network", "tx_hash");
-- the tail of a spoke, dropped and written anew as its blocks come and go
CREATE INDEX "messages_unconfirmed_idx" ON "messages" ("network", "chain", "block") WHERE NOT "confirmed";

CREATE TABLE "received" (
  "network" SMALLINT NOT NULL,
  "guid" BYTEA NOT NULL,
  "tx_hash" BYTEA NOT NULL,
  "block" BIGINT NOT NULL,
  "log_index" INTEGER NOT NULL,
  "bids" INTEGER NOT NULL,
  "refused" BOOLEAN NOT NULL,
  "confirmed" BOOLEAN NOT NULL,
  CONSTRAINT "received_pkey" PRIMARY KEY ("network", "guid")
);
CREATE INDEX "received_unconfirmed_idx" ON "received" ("network", "block") WHERE NOT "confirmed";
