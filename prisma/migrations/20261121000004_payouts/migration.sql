-- payments that bought names of a community and wait for its word, oldest first: of others there may be any number
CREATE INDEX IF NOT EXISTS "payments_community_idx" ON "payments" ("network", "community", "paid_ms", "chain", "sequence")
  WHERE "kind" = 2 AND "state" = 2 AND "outcome" IS NULL;
