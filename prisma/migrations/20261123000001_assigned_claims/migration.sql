-- Account whose claim a name was assigned for: it gives one name of a community, wherever it is verified since.
ALTER TABLE "community_names" ADD COLUMN "claim" BYTEA;
CREATE INDEX "community_names_claim_idx" ON "community_names" ("network", "community", "claim") WHERE "claim" IS NOT NULL;
