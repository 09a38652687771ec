-- Family of each chain. A version before this one writes none: its EVM chains get the default, and a Solana cluster that it
-- meets for the first time waits for this version.
ALTER TABLE "chains" ADD COLUMN "family" TEXT NOT NULL DEFAULT 'evm';
UPDATE "chains" SET "family" = 'solana' WHERE "chain_id" IS NULL;
ALTER TABLE "chains" ADD CONSTRAINT "chains_evm_has_chain_id" CHECK ("family" <> 'evm' OR "chain_id" IS NOT NULL);
