-- Identity of the database in which a log was signed: a restored backup and a promoted standby have another one.
ALTER TABLE "logs" ADD COLUMN "server" TEXT;
