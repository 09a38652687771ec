-- Payments on Solana: each is a message to the hub with one name. They serve status, the relayer and refunds; none is state.

CREATE TABLE "payments" (
  "network" SMALLINT NOT NULL,
  "message_id" BYTEA NOT NULL,
  "chain" SMALLINT NOT NULL,
  "sequence" BIGINT NOT NULL,
  "signature" BYTEA NOT NULL,
  "slot" BIGINT NOT NULL,
  "position" INTEGER NOT NULL,
  "payer" BYTEA NOT NULL,
  "quote_id" BYTEA NOT NULL,
  "name" BYTEA NOT NULL,
  "amount_wei" DECIMAL(78,0) NOT NULL,
  "lamports" BIGINT NOT NULL,
  "expires_at" BIGINT NOT NULL,
  "referral" BYTEA NOT NULL,
  "paid_ms" BIGINT NOT NULL,
  "confirmed" BOOLEAN NOT NULL,
  "verdict" SMALLINT,
  "settled" BOOLEAN NOT NULL DEFAULT false,
  CONSTRAINT "payments_pkey" PRIMARY KEY ("network", "message_id"),
  CONSTRAINT "payments_settled_check" CHECK (NOT "settled" OR "confirmed")
);
CREATE INDEX "payments_network_signature_idx" ON "payments" ("network", "signature");
-- what was seen but is not finalized, dropped and written anew as it comes and goes
CREATE INDEX "payments_unconfirmed_idx" ON "payments" ("network", "chain", "sequence") WHERE NOT "confirmed";
-- what has to be delivered, settled or refunded yet: the relayer looks at these alone, however many there ever were
CREATE INDEX "payments_open_idx" ON "payments" ("network", "paid_ms") WHERE "confirmed" AND NOT "settled";

-- How far the payments of a program are taken in. The transaction of the newest payment, settlement or refund that is believed,
-- and the sequence up to which every payment is known.
CREATE TABLE "payment_cursors" (
  "network" SMALLINT NOT NULL,
  "chain" SMALLINT NOT NULL,
  "signature" BYTEA,
  "slot" BIGINT NOT NULL,
  "sequence" BIGINT NOT NULL,
  CONSTRAINT "payment_cursors_pkey" PRIMARY KEY ("network", "chain")
);

-- the key of this installation's quotes, where the environment names none
ALTER TABLE "deployment" ADD COLUMN "quote_key" BYTEA NOT NULL DEFAULT (uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()));
ALTER TABLE "deployment" ALTER COLUMN "quote_key" DROP DEFAULT;
