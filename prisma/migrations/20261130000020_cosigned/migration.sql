-- The newest checkpoint of a copied log that this mirror has signed as a witness, where it is newer than the copy
-- (src/db/mirror/cosigned.ts).
CREATE TABLE "cosigned" (
  "network" SMALLINT NOT NULL,
  "origin" TEXT NOT NULL,
  "size" BIGINT NOT NULL,
  "root" BYTEA NOT NULL,
  "note" TEXT NOT NULL,
  CONSTRAINT "cosigned_pkey" PRIMARY KEY ("network", "origin")
);
