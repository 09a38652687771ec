-- where the operator has the public feed sent; the key signs each message
CREATE TABLE "webhooks" (
    "id" INTEGER GENERATED ALWAYS AS IDENTITY,
    "network" SMALLINT NOT NULL,
    "url" TEXT NOT NULL,
    "key" BYTEA NOT NULL,
    "from" BYTEA,
    "cursor" TEXT,
    "generation" INTEGER,
    "seen" BIGINT NOT NULL,
    "delivered" BIGINT NOT NULL,
    "parked" TEXT,
    "failures" INTEGER NOT NULL,
    "failing_ms" BIGINT,
    "next_ms" BIGINT NOT NULL,
    "lease_ms" BIGINT NOT NULL,
    "created_ms" BIGINT NOT NULL,
    CONSTRAINT "webhooks_pkey" PRIMARY KEY ("id")
);

-- the newest failed deliveries of each
CREATE TABLE "webhook_failures" (
    "webhook" INTEGER NOT NULL,
    "at_ms" BIGINT NOT NULL,
    "message" TEXT NOT NULL,
    "cursor" TEXT,
    "reason" TEXT NOT NULL,
    CONSTRAINT "webhook_failures_pkey" PRIMARY KEY ("webhook", "at_ms"),
    CONSTRAINT "webhook_failures_webhook_fkey" FOREIGN KEY ("webhook") REFERENCES "webhooks" ("id") ON DELETE CASCADE
);
