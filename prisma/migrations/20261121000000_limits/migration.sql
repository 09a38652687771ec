-- the newest payment of a token on a chain, before which a jump of its numbers is looked for
CREATE INDEX IF NOT EXISTS "payments_newest_idx" ON "payments" ("network", "chain", "token", "block", "sequence")
  WHERE "kind" = 2 AND "state" >= 1;

-- signing date of the newest signature that asked for a generated wallet's key: each serves once
ALTER TABLE "wallet_shares" ADD COLUMN IF NOT EXISTS "recovered_ms" BIGINT;
