-- the newest payment of a token on a chain, before which a jump of its numbers is looked for
CREATE INDEX IF NOT EXISTS "payments_newest_idx" ON "payments" ("network", "chain", "token", "block", "sequence")
  WHERE "kind" = 2 AND "state" >= 1;
