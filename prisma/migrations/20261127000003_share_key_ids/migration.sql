-- Identifies the key under which a share is encrypted; null for shares from before.
ALTER TABLE "wallet_shares" ADD COLUMN IF NOT EXISTS "key_id" BYTEA;
