-- What operators ran against this database: a row is written when a command begins, and completed when it ends.
CREATE TABLE "operator_actions" (
  "id" UUID NOT NULL,
  "began_ms" BIGINT NOT NULL,
  "ended_ms" BIGINT,
  "os_user" TEXT NOT NULL,
  "role" TEXT NOT NULL,
  "command" TEXT NOT NULL,
  "outcome" TEXT,
  CONSTRAINT "operator_actions_pkey" PRIMARY KEY ("id")
);
-- for lists and sweeping
CREATE INDEX "operator_actions_began_ms_idx" ON "operator_actions" ("began_ms");
