-- While nothing is copied (SQL_VIEWS is off, or its first copy is not whole), an empty answer would read as "no names".
CREATE FUNCTION registry_v1.require_copy(is_copied boolean) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
  IF NOT is_copied THEN
    RAISE EXCEPTION 'this view has no copy of the feed: start clusterd with SQL_VIEWS=on, and wait for the first copy'
      USING ERRCODE = 'object_not_in_prerequisite_state', HINT = 'docs/use/sql.md';
  END IF;
  RETURN true;
END $$;

CREATE OR REPLACE VIEW shown_events AS
SELECT e.* FROM feed_events e JOIN feed_shown s USING (network, generation)
WHERE registry_v1.require_copy(EXISTS (SELECT FROM feed_shown));
