-- What the relayer does for messages, and the nonces of its signers. None is state of the registry, and none belongs to a
-- generation: a message that was delivered stays delivered.

CREATE TABLE "deliveries" (
  "network" SMALLINT NOT NULL,
  "id" BIGSERIAL NOT NULL,
  "guid" BYTEA,
  "kind" SMALLINT NOT NULL,
  "chain" SMALLINT NOT NULL,
  "signer" BYTEA,
  "state" SMALLINT NOT NULL,
  "value_wei" DECIMAL(78,0) NOT NULL,
  "nonce" BIGINT,
  "txs" JSONB NOT NULL,
  "included" JSONB,
  "failures" INTEGER NOT NULL,
  "next_ms" BIGINT NOT NULL,
  "spent_wei" DECIMAL(78,0) NOT NULL,
  "reason" TEXT,
  "release" TEXT,
  "created_ms" BIGINT NOT NULL,
  "updated_ms" BIGINT NOT NULL,
  "version" INTEGER NOT NULL,
  CONSTRAINT "deliveries_pkey" PRIMARY KEY ("network", "id"),
  -- what holds a nonce has a signer and signed bytes
  CONSTRAINT "deliveries_nonce_check" CHECK ("nonce" IS NULL OR ("signer" IS NOT NULL AND jsonb_array_length("txs") > 0))
);
-- a message is verified once and executed once
CREATE UNIQUE INDEX "deliveries_network_guid_kind_key" ON "deliveries" ("network", "guid", "kind");
-- a signer's nonce is given out once
CREATE UNIQUE INDEX "deliveries_nonce_key" ON "deliveries" ("network", "chain", "signer", "nonce") WHERE "nonce" IS NOT NULL;
-- what is under way (queued 0, signed 1, sent 2, included 3), and what waits for an operator (parked 5); confirmed is 4
CREATE INDEX "deliveries_live_idx" ON "deliveries" ("network", "next_ms") WHERE "state" < 4;
CREATE INDEX "deliveries_parked_idx" ON "deliveries" ("network", "id") WHERE "state" = 5;

CREATE TABLE "relay_signers" (
  "network" SMALLINT NOT NULL,
  "chain" SMALLINT NOT NULL,
  "signer" BYTEA NOT NULL,
  "next_nonce" BIGINT NOT NULL,
  CONSTRAINT "relay_signers_pkey" PRIMARY KEY ("network", "chain", "signer")
);

-- messages that the hub has not taken for good yet: the relayer looks at these alone, however many there ever were
ALTER TABLE "messages" ADD COLUMN "settled" BOOLEAN NOT NULL DEFAULT false;
CREATE INDEX "messages_open_idx" ON "messages" ("network", "sent_ms") WHERE "confirmed" AND NOT "settled";
