-- refused payments whose payers could not have taken them back yet: an alarm looks for those that bought their names
CREATE INDEX IF NOT EXISTS "payments_refused_idx" ON "payments" ("network", "chain", "reclaimable_ms")
  WHERE "outcome" = 1;
