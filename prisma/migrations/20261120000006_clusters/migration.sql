-- Shares of wallets that were generated here, encrypted. Not state of the registry: what a share belongs to outlives a rewind.

CREATE TABLE "wallet_shares" (
  "network" SMALLINT NOT NULL,
  "address" BYTEA NOT NULL,
  "cluster_id" BYTEA NOT NULL,
  "created_by" BYTEA NOT NULL,
  "share" BYTEA NOT NULL,
  "created_ms" BIGINT NOT NULL,
  CONSTRAINT "wallet_shares_pkey" PRIMARY KEY ("network", "address")
);
