-- The nonce of a session's signed message, where the client had a share in it (src/db/auth/sessions.ts).
ALTER TABLE "sessions" ADD COLUMN "nonce" TEXT NOT NULL DEFAULT '';
