-- A mirror has neither the rules of communities nor payments: an empty answer there would read as "nothing is owed".
CREATE FUNCTION registry_v1.require_source(is_mirror boolean) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
  IF is_mirror THEN
    RAISE EXCEPTION 'a mirror does not have the rows of this view: ask its source' USING ERRCODE = 'feature_not_supported';
  END IF;
  RETURN true;
END $$;

CREATE OR REPLACE VIEW registry_v1.communities AS
SELECT DISTINCT registry_v1.network_name(network) AS network, name FROM communities
WHERE registry_v1.require_source(EXISTS (SELECT FROM journal_heads WHERE mirrored_ms IS NOT NULL));

CREATE OR REPLACE VIEW registry_v1.refunds_owed WITH (security_barrier) AS
SELECT registry_v1.network_name(network) AS network, 'hub' AS chain, registry_v1.address_text(wallet) AS payer,
  NULL::text AS token, sum(amount_wei) AS amount, NULL::timestamptz AS since
FROM hub_credits
WHERE registry_v1.require_source(EXISTS (SELECT FROM journal_heads WHERE mirrored_ms IS NOT NULL))
GROUP BY hub_credits.network, wallet HAVING sum(amount_wei) > 0
UNION ALL
SELECT registry_v1.network_name(p.network), c.label, registry_v1.address_text(p.payer), p.token, p.amount,
  registry_v1.at_time(p.reclaimable_ms)
FROM payments p JOIN chains c ON c.network = p.network AND c.chain = p.chain
WHERE p.outcome IS NULL AND p.state >= 1 AND registry_v1.at_time(p.reclaimable_ms) <= now();
