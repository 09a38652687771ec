-- When a bucket was written: none stays empty until a time again from which the clock was set back.
ALTER TABLE "limit_buckets" ADD COLUMN "at_ms" DOUBLE PRECISION NOT NULL DEFAULT 0;
