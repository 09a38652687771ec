-- Signatures of wallets that say that they belong to their cluster, and the log of them (src/db/feed/evidence.ts).

-- Entry of the wallet's newest signature.
ALTER TABLE "wallets" ADD COLUMN "evidence_seq" BIGINT;
-- what the evidence log has to publish, in its order; a registration writes none
CREATE INDEX "wallets_evidence_idx" ON "wallets" ("network", (GREATEST("created_seq", "evidence_seq")), "address")
  WHERE "evidence_seq" IS NOT NULL AND NOT "private";

-- What the session's signature says of its wallet's cluster, until a verification keeps it.
ALTER TABLE "sessions" ADD COLUMN "evidence" JSONB;

CREATE TABLE "evidence" (
  "network" SMALLINT NOT NULL,
  "generation" INTEGER NOT NULL,
  "number" BIGINT NOT NULL,
  "seq" BIGINT NOT NULL,
  "address" BYTEA NOT NULL,
  "entry" TEXT NOT NULL,
  CONSTRAINT "evidence_pkey" PRIMARY KEY ("network", "generation", "number")
);
