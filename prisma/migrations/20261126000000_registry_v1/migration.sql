-- SQL for readers beside the API (docs/use/sql.md). `feed_events` has public events and nothing else, so that no query,
-- plan, statistic or error of its readers can tell of a private wallet: views over the registry's own tables could.
CREATE TABLE "feed_events" (
  "network" SMALLINT NOT NULL,
  "number" BIGINT NOT NULL,
  "generation" INTEGER NOT NULL,
  "type" TEXT NOT NULL,
  "actor" TEXT COLLATE "C" NOT NULL,
  "at_ms" BIGINT NOT NULL,
  "cluster_id" TEXT COLLATE "C",
  "community" TEXT COLLATE "C",
  "name" TEXT COLLATE "C",
  "address" TEXT COLLATE "C",
  "address_type" TEXT,
  "data" JSONB NOT NULL,
  CONSTRAINT "feed_events_pkey" PRIMARY KEY ("network", "generation", "number")
);
CREATE INDEX "feed_events_network_cluster_id_idx" ON "feed_events" ("network", "cluster_id");
CREATE INDEX "feed_events_network_address_idx" ON "feed_events" ("network", "address");
CREATE INDEX "feed_events_network_name_idx" ON "feed_events" ("network", "name");

-- the generation that readers see: a feed that begins anew is copied beside it, and shown once its copy is whole
CREATE TABLE "feed_shown" (
  "network" SMALLINT NOT NULL,
  "generation" INTEGER NOT NULL,
  CONSTRAINT "feed_shown_pkey" PRIMARY KEY ("network")
);
CREATE VIEW shown_events AS SELECT e.* FROM feed_events e JOIN feed_shown s USING (network, generation);

CREATE SCHEMA "registry_v1";

CREATE FUNCTION registry_v1.network_name(smallint) RETURNS text LANGUAGE sql IMMUTABLE AS
  $$ SELECT CASE $1 WHEN 0 THEN 'mainnet' ELSE 'testnet' END $$;

CREATE FUNCTION registry_v1.at_time(bigint) RETURNS timestamptz LANGUAGE sql IMMUTABLE AS
  $$ SELECT timestamptz 'epoch' + $1 * interval '1 millisecond' $$;

-- the text of a stored address: EVM in lower case, Solana in base58
CREATE FUNCTION registry_v1.address_text(stored bytea) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  left_over numeric := 0;
  digits text := '';
  zeros int := 0;
BEGIN
  IF get_byte(stored, 0) = 1 THEN RETURN '0x' || encode(substr(stored, 2), 'hex'); END IF;
  FOR i IN 1 .. length(stored) - 1 LOOP
    left_over := left_over * 256 + get_byte(stored, i);
    IF left_over = 0 THEN zeros := zeros + 1; END IF;
  END LOOP;
  WHILE left_over > 0 LOOP
    digits := substr('123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz', (left_over % 58)::int + 1, 1) || digits;
    left_over := div(left_over, 58);
  END LOOP;
  RETURN repeat('1', zeros) || digits;
END $$;

CREATE VIEW registry_v1.events AS
SELECT registry_v1.network_name(network) AS network, generation, number, type, actor,
  registry_v1.at_time(at_ms) AS at, cluster_id, community, name, address, address_type, data
FROM shown_events;

CREATE VIEW registry_v1.clusters AS
SELECT registry_v1.network_name(network) AS network, cluster_id, registry_v1.at_time(at_ms) AS created_at,
  actor AS created_by
FROM shown_events WHERE type = 'CREATE_CLUSTER';

-- the newest transfer names the holder
CREATE VIEW registry_v1.names AS
SELECT registry_v1.network_name(network) AS network, name,
  (array_agg(cluster_id ORDER BY number DESC))[1] AS cluster_id,
  max((data ->> 'wei_amount')::numeric) AS wei_amount,
  registry_v1.at_time(min(at_ms)) AS registered_at,
  (array_agg(actor ORDER BY number))[1] AS registered_by
FROM shown_events WHERE type IN ('REGISTER_NAME', 'TRANSFER_NAME') GROUP BY shown_events.network, name;

-- an entry is as its changes since it was added last make it
CREATE VIEW registry_v1.wallets AS
SELECT registry_v1.network_name(w.network) AS network, w.cluster_id, w.address, w.address_type,
  (array_agg(w.name ORDER BY w.number DESC) FILTER (WHERE w.name IS NOT NULL))[1] AS name,
  bool_or(w.type = 'VERIFY_WALLET' OR (w.data ->> 'is_verified')::boolean IS TRUE) AS is_verified,
  bool_or(w.type = 'BACKUP_WALLET' OR (w.data ->> 'is_backed_up')::boolean IS TRUE) AS is_backed_up,
  registry_v1.at_time(min(w.at_ms)) AS added_at
FROM (
  SELECT *, max(number) FILTER (WHERE type = 'REMOVE_WALLET') OVER (PARTITION BY network, cluster_id, address) AS removed
  FROM shown_events
  WHERE type IN ('ADD_WALLET', 'UPDATE_WALLET_NAME', 'VERIFY_WALLET', 'REMOVE_WALLET', 'BACKUP_WALLET')
) w
WHERE w.number > coalesce(w.removed, 0)
GROUP BY w.network, w.cluster_id, w.address, w.address_type;

CREATE VIEW registry_v1.communities AS
SELECT DISTINCT registry_v1.network_name(network) AS network, name FROM communities;

-- the newest registration: a name whose buyer took the money back may be bought again
CREATE VIEW registry_v1.community_names AS
SELECT DISTINCT ON (e.network, e.community, e.name) registry_v1.network_name(e.network) AS network, e.community,
  e.name, e.address, e.address_type, e.cluster_id, registry_v1.at_time(e.at_ms) AS registered_at
FROM shown_events e WHERE e.type = 'REGISTER_COMMUNITY_NAME'
ORDER BY e.network, e.community, e.name, e.number DESC;

-- confirmed payments (states 1 and 2) that their payers may take back by now, and credits of the hub
CREATE VIEW registry_v1.refunds_owed WITH (security_barrier) AS
SELECT registry_v1.network_name(network) AS network, 'hub' AS chain, registry_v1.address_text(wallet) AS payer,
  NULL::text AS token, sum(amount_wei) AS amount, NULL::timestamptz AS since
FROM hub_credits GROUP BY hub_credits.network, wallet HAVING sum(amount_wei) > 0
UNION ALL
SELECT registry_v1.network_name(p.network), c.label, registry_v1.address_text(p.payer), p.token, p.amount,
  registry_v1.at_time(p.reclaimable_ms)
FROM payments p JOIN chains c ON c.network = p.network AND c.chain = p.chain
WHERE p.outcome IS NULL AND p.state >= 1 AND registry_v1.at_time(p.reclaimable_ms) <= now();
