-- Entries beyond the cuts that are there go into one last cut, so that nobody has to make another ahead of them. Like
-- each cut it has its own index against a log that enters twice.
CREATE TABLE "journal_mainnet_rest" PARTITION OF "journal_mainnet" DEFAULT;
CREATE TABLE "journal_testnet_rest" PARTITION OF "journal_testnet" DEFAULT;
CREATE UNIQUE INDEX "journal_mainnet_rest_position_key" ON "journal_mainnet_rest" ("network", "generation", "chain", "block", "log_index") WHERE "chain" IS NOT NULL;
CREATE UNIQUE INDEX "journal_testnet_rest_position_key" ON "journal_testnet_rest" ("network", "generation", "chain", "block", "log_index") WHERE "chain" IS NOT NULL;
