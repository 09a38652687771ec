-- Family of each chain. A version before this one writes none: the row of a Solana cluster that it meets for the first time
-- gets the default, until this version starts.
ALTER TABLE "chains" ADD COLUMN "family" TEXT NOT NULL DEFAULT 'evm';
UPDATE "chains" SET "family" = 'solana' WHERE "chain_id" IS NULL;
