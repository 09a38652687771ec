-- Run once by the primary's image. The roles have the server's password here: give each its own.
\getenv password POSTGRES_PASSWORD
CREATE ROLE clusterd LOGIN PASSWORD :'password';
CREATE ROLE clusterd_api LOGIN PASSWORD :'password';
CREATE ROLE replicator LOGIN REPLICATION PASSWORD :'password';
-- what the daemon sets on direct connections (docs/run/configuration.md)
ALTER ROLE clusterd SET enable_seqscan = off;
ALTER ROLE clusterd_api SET enable_seqscan = off;
ALTER ROLE clusterd SET enable_bitmapscan = off;
ALTER ROLE clusterd_api SET enable_bitmapscan = off;
ALTER ROLE clusterd SET jit = off;
ALTER ROLE clusterd_api SET jit = off;
ALTER ROLE clusterd SET plan_cache_mode = force_generic_plan;
ALTER ROLE clusterd_api SET plan_cache_mode = force_generic_plan;
-- whoever leads ends sessions of the API that froze with locks
GRANT clusterd_api TO clusterd;
CREATE DATABASE clusterd OWNER clusterd;
\connect clusterd
ALTER DEFAULT PRIVILEGES FOR ROLE clusterd GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO clusterd_api;
