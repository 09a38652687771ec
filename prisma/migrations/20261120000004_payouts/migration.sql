-- What becomes of the money of payments on Solana: settled once the name is won, refunded otherwise. None is state of the
-- registry, and none belongs to a generation: money that was paid back stays paid back.

CREATE TABLE "payouts" (
  "network" SMALLINT NOT NULL,
  "message_id" BYTEA NOT NULL,
  "kind" SMALLINT NOT NULL,
  "state" SMALLINT NOT NULL,
  "signature" BYTEA,
  "raw" BYTEA,
  "last_valid_height" BIGINT,
  "failures" INTEGER NOT NULL,
  "next_ms" BIGINT NOT NULL,
  "reason" TEXT,
  "created_ms" BIGINT NOT NULL,
  "updated_ms" BIGINT NOT NULL,
  "version" INTEGER NOT NULL,
  -- a payment is settled or refunded, once
  CONSTRAINT "payouts_pkey" PRIMARY KEY ("network", "message_id"),
  -- what may be on its way is stored whole: signed (1) and sent (2)
  CONSTRAINT "payouts_signed_check" CHECK (
    "state" NOT IN (1, 2) OR ("signature" IS NOT NULL AND "raw" IS NOT NULL AND "last_valid_height" IS NOT NULL))
);
-- what is under way (queued 0, signed 1, sent 2), and what waits for an operator (parked 4); confirmed is 3
CREATE INDEX "payouts_live_idx" ON "payouts" ("network", "next_ms") WHERE "state" < 3;
CREATE INDEX "payouts_parked_idx" ON "payouts" ("network", "message_id") WHERE "state" = 4;
