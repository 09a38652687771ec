-- Names that leave a cluster for another in slices (src/registry/fold/moves.ts); the rows of the names say where they
-- were, until their slice. A cluster is the source or the target of one move at most.
CREATE TABLE "moves" (
  "network" SMALLINT NOT NULL,
  "source" BIGINT NOT NULL,
  "target" BIGINT NOT NULL,
  "seq" BIGINT NOT NULL,
  "actor" BYTEA NOT NULL,
  CONSTRAINT "moves_pkey" PRIMARY KEY ("network", "source")
) PARTITION BY LIST ("network");
CREATE UNIQUE INDEX "moves_network_target_key" ON "moves" ("network", "target");
CREATE INDEX "moves_network_seq_idx" ON "moves" ("network", "seq");
CREATE TABLE "moves_mainnet" PARTITION OF "moves" FOR VALUES IN (0);
CREATE TABLE "moves_testnet" PARTITION OF "moves" FOR VALUES IN (1);
