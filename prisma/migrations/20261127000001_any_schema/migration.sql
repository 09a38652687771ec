-- The tables may lie in any schema: the heads are those beside the table that changed.
CREATE OR REPLACE FUNCTION "note_facts"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format(
        'UPDATE %I.journal_heads h SET facts_version = h.facts_version + 1
         WHERE EXISTS (SELECT FROM changed c WHERE c.network = h.network AND c.name IS NOT NULL)',
        TG_TABLE_SCHEMA
    );
    RETURN NULL;
END $$;
