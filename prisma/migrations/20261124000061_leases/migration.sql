-- A lead is a lease: who holds it renews `until_ms`. The epoch is part of a key, so that writes that lock it FOR KEY
-- SHARE keep out the next leader and no renewal.
ALTER TABLE "leaders"
  ADD COLUMN "since_ms" BIGINT NOT NULL DEFAULT 0,
  ADD COLUMN "until_ms" BIGINT NOT NULL DEFAULT 0,
  ADD COLUMN "backend" INTEGER NOT NULL DEFAULT 0;
CREATE UNIQUE INDEX "leaders_network_role_epoch_key" ON "leaders"("network", "role", "epoch");
