-- Where a network's events are not copied (SQL_VIEWS is off, or the first copy is not whole), an empty answer would read as
-- "no names". A view cannot know of which networks a query asks: all that have events must have a copy.
CREATE FUNCTION registry_v1.require_copy(is_copied boolean) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
  IF NOT is_copied THEN
    RAISE EXCEPTION 'the feed of a network is not copied: start clusterd with SQL_VIEWS=on, and wait for the first copy'
      USING ERRCODE = 'object_not_in_prerequisite_state', HINT = 'docs/use/sql.md';
  END IF;
  RETURN true;
END $$;
-- a view calls functions with the rights of its reader, and default privileges may have taken PUBLIC's away
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA registry_v1 TO PUBLIC;

CREATE OR REPLACE VIEW shown_events AS
SELECT e.* FROM feed_events e JOIN feed_shown s USING (network, generation)
WHERE registry_v1.require_copy(EXISTS (SELECT FROM feed_shown) AND NOT EXISTS (
  SELECT FROM journal_heads h WHERE h.public_seq > 0 AND NOT EXISTS (SELECT FROM feed_shown c WHERE c.network = h.network)
));
