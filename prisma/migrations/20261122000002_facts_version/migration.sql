-- Changes with each bid that begins or ceases to be unconfirmed, by whichever version wrote or removed it.
ALTER TABLE "journal_heads" ADD COLUMN "facts_version" BIGINT NOT NULL DEFAULT 0;

CREATE FUNCTION "note_facts"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE public.journal_heads h SET facts_version = h.facts_version + 1
    WHERE EXISTS (SELECT FROM changed c WHERE c.network = h.network AND c.name IS NOT NULL);
    RETURN NULL;
END $$;

CREATE TRIGGER "facts_added" AFTER INSERT ON "facts"
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION "note_facts"();

CREATE TRIGGER "facts_removed" AFTER DELETE ON "facts"
    REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION "note_facts"();
