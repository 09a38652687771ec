-- Wallets that proved themselves. Not state of the registry: a session is in no journal and belongs to no network.

ALTER TABLE "deployment" ADD COLUMN "token_key" BYTEA;
UPDATE "deployment" SET "token_key" = uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid());
ALTER TABLE "deployment" ALTER COLUMN "token_key" SET NOT NULL;

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
-- by what was signed, never by the signature's bytes, of which there are several forms
CREATE UNIQUE INDEX "sessions_wallet_signing_ms_key" ON "sessions" ("wallet", "signing_ms");
-- for sweeping
CREATE INDEX "sessions_expires_ms_idx" ON "sessions" ("expires_ms");
