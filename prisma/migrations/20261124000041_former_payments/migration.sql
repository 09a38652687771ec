-- Contracts that took payments before: what they owe stays the payers'.
ALTER TABLE "chains" ADD COLUMN "former_payments" BYTEA[] NOT NULL DEFAULT '{}';
